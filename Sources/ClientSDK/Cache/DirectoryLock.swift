internal import Glibc

/// Keeps a directory for one client: two at once would send each other's outbox.
///
/// An advisory lock on a file beside the database (<https://man7.org/linux/man-pages/man2/flock.2.html>); the kernel drops it with
/// the process, however that ends, so nothing stale can remain. The file holds the holder's process number, for the error.
final class DirectoryLock {
    private let descriptor: Int32

    /// Makes the directory if there is none.
    init(directory: String) throws(ClientError) {
        try Self.make(directory)
        let path = directory + "/freshet.lock"
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw Self.error(errno, path, directory) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let failure = errno
            defer { close(opened) }
            guard failure == EWOULDBLOCK else { throw Self.error(failure, path, directory) }
            throw .directoryInUse(path: directory, holder: Self.holder(opened))
        }
        descriptor = opened
        let text = "process \(getpid())\n"
        // Only for people: a lock without its holder's name is a lock all the same.
        _ = ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    deinit {
        // A child that is just being started may still share the descriptor, so that closing alone would not unlock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func make(_ directory: String) throws(ClientError) {
        // Each level in turn, as "mkdir -p" does.
        var path = directory.hasPrefix("/") ? "" : "."
        for part in directory.split(separator: "/") {
            path += "/" + part
            guard mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            throw error(errno, path, directory)
        }
    }

    private static func holder(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let text = String(decoding: buffer[..<max(0, count)].prefix { $0 != 0x0A }, as: UTF8.self)
        return text.isEmpty ? "another client" : text == "process \(getpid())" ? "another client of this \(text)" : text
    }

    private static func error(_ code: Int32, _ path: String, _ directory: String) -> ClientError {
        switch code {
        case EACCES, EROFS, EPERM: .readOnly(path: directory)
        case ENOSPC, EDQUOT: .diskFull(path: directory)
        default: .storageFailed(path: path, "\(String(cString: strerror(code))): name a directory that can be made and written")
        }
    }
}
