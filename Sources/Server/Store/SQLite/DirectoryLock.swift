internal import Glibc

/// Keeps a second server out of a data directory, for as long as it lives. The kernel releases it when the process ends, however.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    init(directory: String) throws(StoreError) {
        let path = directory + "/freshet.lock"
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw StoreError(systemError: errno, path: directory) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(opened)
            throw code == EWOULDBLOCK ? .inUse(path: directory) : StoreError(systemError: code, path: directory)
        }
        // Only now: a class whose members are all there is deinitialised when its initialiser throws, and would close it again.
        descriptor = opened
    }

    deinit {
        // A child that is just being started may still share the descriptor, so that closing alone would not unlock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Makes the directory if it is not there, but not those above it: a misspelt path shall not grow a tree.
    static func makeDirectory(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) != 0 else { return }
        let code = errno
        guard code == EEXIST else { throw StoreError(systemError: code, path: path) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .failed(path: path, reason: "this is a file, and the server keeps its data in a directory. Name a directory.")
        }
    }
}

extension StoreError {
    init(systemError code: Int32, path: String) {
        let reason = String(cString: strerror(code))
        self =
            switch code {
            case ENOENT, ENOTDIR: .missingDirectory(path: path)
            case EACCES, EPERM, EROFS: .readOnly(path: path, reason: reason)
            case ENOSPC, EDQUOT: .full(path: path)
            default: .failed(path: path, reason: reason)
            }
    }
}
