import CFreshetLinux
import Glibc

/// The file of a Unix socket, at which only the user of the process may connect.
struct SocketFile: Sendable {
    private let path: String
    private let device: UInt
    private let inode: UInt

    /// Listens at the path. A file that a process which has ended left there is replaced; one at which a process listens
    /// is not. Two processes must not do this at once: the caller has a lock.
    ///
    /// - Returns: the descriptor, non-blocking and closed on exec, and the file.
    static func listen(_ path: String, backlog: Int) throws(SocketHTTPError) -> (descriptor: Int32, file: SocketFile) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = withUnsafeBytes(of: &address.sun_path) { $0.count }
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else {
            throw .socketUnusable(path: path, reason: "an absolute path of a socket has 1 to \(room - 1) bytes: choose a shorter one")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        try checkFolder(of: path)
        try removeStale(path, &address)
        let descriptor = try open()
        do throws(SocketHTTPError) {
            // Linux makes the file with the mode of the descriptor, so that there is no moment in which others may connect.
            guard fchmod(descriptor, 0o600) == 0 else { throw SocketHTTPError(errno: errno, during: "fchmod") }
            guard withAddress(&address, { bind(descriptor, $0, $1) }) == 0 else { throw unusable(path, errno) }
            let status = try status(of: path)
            let file = SocketFile(path: path, device: UInt(status.st_dev), inode: UInt(status.st_ino))
            guard status.st_mode & 0o077 == 0, Glibc.listen(descriptor, Int32(clamping: backlog)) == 0 else {
                let reason = status.st_mode & 0o077 == 0 ? String(cString: strerror(errno)) : "the system gave others access to it"
                file.remove()
                throw .socketUnusable(path: path, reason: reason)
            }
            return (descriptor, file)
        } catch {
            SystemCall.close(descriptor)
            throw error
        }
    }

    /// Removes the file, unless another is in its place by now.
    func remove() {
        guard let status = try? Self.status(of: path), UInt(status.st_dev) == device, UInt(status.st_ino) == inode else { return }
        unlink(path)
    }

    /// A folder in which another user may replace the file lets that user receive the requests of operators.
    static func checkFolder(of path: String) throws(SocketHTTPError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw .socketUnusable(path: path, reason: "\(folder): \(String(cString: strerror(errno))); make the folder, with mode 0700")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .socketUnusable(path: path, reason: "\(folder) is no folder") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .socketUnusable(path: path, reason: "\(folder) belongs to another user: choose a folder of this user")
        }
        // In a folder such as /tmp others may add files, and not replace this one.
        guard status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
            throw .socketUnusable(path: path, reason: "other users may write to \(folder): chmod go-w \(folder)")
        }
    }

    private static func removeStale(_ path: String, _ address: inout sockaddr_un) throws(SocketHTTPError) {
        var existing = stat()
        guard lstat(path, &existing) == 0 else {
            guard errno == ENOENT else { throw unusable(path, errno) }
            return
        }
        guard existing.st_mode & S_IFMT == S_IFSOCK else {
            throw .socketUnusable(path: path, reason: "there is a file that is no socket: choose another path, or remove it")
        }
        let descriptor = try open()
        defer { SystemCall.close(descriptor) }
        // Only a socket at which nobody listens refuses.
        guard withAddress(&address, { connect(descriptor, $0, $1) }) != 0, errno == ECONNREFUSED else { throw .socketInUse(path: path) }
        guard unlink(path) == 0 else { throw unusable(path, errno) }
    }

    private static func open() throws(SocketHTTPError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketHTTPError(errno: errno, during: "socket") }
        return descriptor
    }

    private static func withAddress(_ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    private static func status(of path: String) throws(SocketHTTPError) -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw unusable(path, errno) }
        return status
    }

    private static func unusable(_ path: String, _ code: Int32) -> SocketHTTPError {
        code == EADDRINUSE ? .socketInUse(path: path) : .socketUnusable(path: path, reason: String(cString: strerror(code)))
    }
}
