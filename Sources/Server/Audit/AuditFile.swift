import FreshetPlatform
import Glibc

/// The file of an audit log. Every call may block on the disk.
struct AuditFile: Sendable {
    let path: String
    private var descriptor: Int32
    /// Whether the file ends within a line that could not be written to its end.
    private var hasPartialLine: Bool

    /// Opens the file, and makes it with mode 0600 if it is not there.
    init(_ path: String) throws(SystemFailure) {
        self.path = path
        descriptor = try Self.open(path)
        hasPartialLine = Self.hasPartialLine(path)
    }

    private static func open(_ path: String) throws(SystemFailure) -> Int32 {
        // A pipe without a reader is an error then, and does not hold up the start or a reload.
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw SystemFailure(code: errno, path: path) }
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
        return descriptor
    }

    /// Whether the last byte of a regular file is no line feed, as a full disk or a crash leaves it.
    private static func hasPartialLine(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return false }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        defer { if descriptor >= 0 { Glibc.close(descriptor) } }
        var last: UInt8 = 0
        // An empty line harms no reader, and a line that continues another one is lost.
        return descriptor < 0 || pread(descriptor, &last, 1, status.st_size - 1) != 1 || last != UInt8(ascii: "\n")
    }

    /// Opens the path again, for example after the file was renamed; keeps the present file if that fails.
    mutating func reopen() throws(SystemFailure) {
        let other = try Self.open(path)
        Glibc.close(descriptor)
        (descriptor, hasPartialLine) = (other, Self.hasPartialLine(path))
    }

    /// Opens the path again if the file was deleted. One that was renamed stays in use until ``reopen()``, as rotations expect.
    mutating func reopenIfDeleted() throws(SystemFailure) {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_nlink == 0 { try reopen() }
    }

    /// Writes a line. If only a part of it can be written, the next line begins with a line feed.
    mutating func write(_ line: [UInt8]) throws(SystemFailure) {
        var rest = (hasPartialLine ? [UInt8(ascii: "\n")] + line : line)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemFailure(code: count < 0 ? errno : EIO, path: path) }
            rest = rest.dropFirst(count)
            hasPartialLine = !rest.isEmpty
        }
    }

    /// Waits until all lines are on the disk. A terminal or a pipe needs none.
    func synchronize() throws(SystemFailure) {
        guard fdatasync(descriptor) != 0, errno != EINVAL, errno != EROFS else { return }
        throw SystemFailure(code: errno, path: path)
    }

    func close() { _ = Glibc.close(descriptor) }
}
