import Glibc

/// The file or directory to which a path leads.
struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// - Returns: `nil` if nothing is there, or it cannot be looked at.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// Whether both paths are equal, or lead to the same file or directory.
    static func areSame(_ first: String, _ second: String) -> Bool {
        if first == second { return true }
        guard let identity = FileIdentity(first) else { return false }
        return identity == FileIdentity(second)
    }
}
