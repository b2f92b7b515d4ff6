internal import Glibc

/// A failed system call. Each module turns it into one of its errors, with advice for the user.
package struct SystemFailure: Error, Hashable, Sendable {
    /// The call's `errno`.
    package let code: Int32
    /// The file or directory that the call was about; empty for none.
    package let path: String

    package init(code: Int32, path: String = "") {
        self.code = code
        self.path = path
    }

    /// The system's text for the code.
    package var reason: String { String(cString: strerror(code)) }
}
