import Glibc

/// A new file that only its owner can read, from its first byte.
enum SecretFile {
    static func create(_ path: String, containing text: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .cannotCreate, "\(path): \(String(cString: strerror(errno))); the key was made, so revoke it if it is lost")
        }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw CommandFailure(.inputOutput, "\(path): \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw CommandFailure(.inputOutput, "\(path): \(String(cString: strerror(errno)))") }
    }
}
