internal import Glibc

/// A path that names the same place whatever the working directory becomes.
///
/// Every path that a user gives is made one of these where it is given, before anything keeps it: a relative path that is
/// resolved when it is used would lead elsewhere after `chdir`, as daemon(3) calls it.
package struct AbsolutePath: Hashable, Sendable {
    /// Why a path cannot be used. The description follows the path in a sentence, and does not repeat it: the text may be a
    /// secret in place of its path.
    package enum Failure: Error, Hashable, Sendable {
        case empty
        /// The path begins with `~`, which a shell would have replaced.
        case home
        /// The path has a zero byte, at which the system would cut it off.
        case zeroByte
        /// The path is relative, and the working directory was removed or cannot be read.
        case noWorkingDirectory(reason: String)
    }

    /// The path for the system: it begins with `/`, and has no zero byte.
    package let text: String

    /// Takes an absolute path as it is, and puts the working directory before a relative one.
    package init(_ path: String) throws(Failure) {
        try self.init(path, in: Self.workingDirectory)
    }

    /// - Parameter workingDirectory: called for a relative path alone; returns an absolute one.
    init(_ path: String, in workingDirectory: () throws(SystemFailure) -> String) throws(Failure) {
        guard let first = path.utf8.first else { throw .empty }
        guard !path.utf8.contains(0) else { throw .zeroByte }
        guard first != UInt8(ascii: "~") else { throw .home }
        guard first != UInt8(ascii: "/") else {
            text = path
            return
        }
        let directory: String
        do throws(SystemFailure) { directory = try workingDirectory() } catch {
            throw .noWorkingDirectory(reason: error.reason)
        }
        var rest = path.utf8[...]
        while rest.starts(with: "./".utf8) {
            rest = rest.dropFirst(2).drop { $0 == UInt8(ascii: "/") }
        }
        // ".." stays: behind a symbolic link only the system knows where it leads.
        let isHere = rest.isEmpty || rest.elementsEqual(".".utf8)
        text = isHere ? directory : (directory == "/" ? "" : directory) + "/" + String(Substring(rest))
    }

    /// - Throws: the failure of `getcwd`; `EILSEQ` for a directory whose name is not UTF-8.
    private static func workingDirectory() throws(SystemFailure) -> String {
        guard let bytes = getcwd(nil, 0) else { throw SystemFailure(code: errno) }
        defer { free(bytes) }
        guard let text = String(validatingCString: bytes) else { throw SystemFailure(code: EILSEQ) }
        return text
    }
}

extension AbsolutePath: CustomStringConvertible {
    package var description: String { text }
}

extension AbsolutePath.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .empty: "is empty: name a file or directory"
        case .home: "begins with ~, which only a shell replaces: write the home directory out, or put ./ before a name with ~"
        case .zeroByte: "has a zero byte, which no path can have"
        case .noWorkingDirectory(let reason):
            "is relative, and the working directory cannot be found (\(reason)): give a path that begins with /"
        }
    }
}
