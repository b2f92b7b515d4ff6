internal import Glibc

/// Keeps a file for one holder, for as long as it lives: two processes, or two in one, must not write the same database.
///
/// An advisory lock (<https://man7.org/linux/man-pages/man2/flock.2.html>); the kernel drops it with the process, however that ends, so
/// nothing stale can remain. Safe from any thread.
package final class FileLock: Sendable {
    /// Why the lock was not got.
    package enum Failure: Error, Hashable {
        /// Another holds it: wait until that ends, or take another file. With what it wrote into the file, at most 64 bytes.
        case held(content: String)
        /// The `errno` of a failed call: look at the path and its rights.
        case system(Int32)
    }

    private let descriptor: Int32
    /// The lock's file and its path. The lock protects nothing once the path leads to another file.
    package let file: PlacedFile

    /// Makes the file if there is none.
    ///
    /// - Parameter path: an absolute path; another one is refused with `EINVAL`.
    package init(path: String) throws(Failure) {
        guard path.hasPrefix("/") else { throw .system(EINVAL) }
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .system(errno) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            defer { close(opened) }
            throw code == EWOULDBLOCK ? .held(content: Self.content(opened)) : .system(code)
        }
        guard let identity = FileIdentity(descriptor: opened) else {
            let code = errno
            close(opened)
            throw .system(code)
        }
        // Only now: a class whose members are all there is deinitialised when its initialiser throws, and would close it again.
        descriptor = opened
        file = PlacedFile(path, identity)
    }

    deinit {
        // A child that is just being started may still share the descriptor, so that closing alone would not unlock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Says who holds it, for people: a lock without its holder's name is a lock all the same, so failures do not count.
    package func setContent(_ text: String) {
        _ = ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    private static func content(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }
}
