internal import Glibc

/// A file as the kernel knows it, whatever its path.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// `nil` if the path names no file.
    package init?(path: String) {
        var status = stat()
        // A string that is passed as a pointer would be copied for each check.
        guard path.withCString({ stat($0, &status) }) == 0 else { return nil }
        self.init(status)
    }

    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}
