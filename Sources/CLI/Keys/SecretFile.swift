import FreshetPlatform
import Glibc

/// A new file for a secret that only its owner can read, from its first byte.
struct SecretFile {
    let path: String
    private let descriptor: Int32

    /// Creates the file, empty. End with ``fill(_:)`` or ``remove()``, which close it.
    /// - Throws: ``CommandFailure`` if there is such a file already, or its folder cannot be written.
    init(creating path: String) throws(CommandFailure) {
        let path = try AbsolutePath(argument: path).text
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .cannotCreate, "\(path): \(systemReason()); no key was made or changed: name a new file in a folder that exists")
        }
        self.path = path
        self.descriptor = descriptor
    }

    /// Writes the secret to the disk. If that fails, removes the file.
    func fill(_ text: String) throws(CommandFailure) {
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failed() }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw failed() }
    }

    /// Removes the file, which has no secret.
    func remove() {
        close(descriptor)
        unlink(path)
    }

    private func failed() -> CommandFailure {
        let reason = systemReason()
        unlink(path)
        return CommandFailure(.inputOutput, "\(path): \(reason)")
    }
}
