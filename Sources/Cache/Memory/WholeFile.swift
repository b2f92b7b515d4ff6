internal import FreshetPlatform
internal import Glibc

/// A file that is read and replaced as a whole.
struct WholeFile: Sendable {
    private let path: String

    init(path: String) throws(CacheError) { self.path = try AbsolutePath(ofCache: path).text }

    func content() throws(CacheError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotRead(path: path, reason: Self.reason()) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
            if count < 0, errno != EINTR { throw .cannotRead(path: path, reason: Self.reason()) }
        }
    }

    /// Writes a temporary file in the same folder and renames it, so that a reader finds the old content or the new,
    /// never a part.
    func replace(with bytes: [UInt8]) throws(CacheError) {
        var template = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: Self.reason()) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Synced before the rename: otherwise a power cut could leave an empty file.
        let isWritten = Self.write(bytes, to: descriptor) && fsync(descriptor) == 0 && rename(template, path) == 0
        let reason = Self.reason()
        close(descriptor)
        guard isWritten else {
            unlink(template)
            throw .cannotWrite(path: path, reason: reason)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) }
            if count < 0, errno != EINTR { return false }
        }
        return true
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
