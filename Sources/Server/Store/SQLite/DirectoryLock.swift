internal import FreshetPlatform
internal import FreshetSQLite
internal import Glibc

/// Locks the data directory against a second server.
enum DirectoryLock {
    static func take(_ directory: String) throws(StoreError) -> FileLock {
        do {
            return try FileLock(path: directory + "/freshet.lock")
        } catch {
            switch error {
            case .held: throw .inUse(path: directory)
            case .system(let code): throw StoreError(systemError: code, path: directory)
            }
        }
    }

    /// Makes the directory if it does not exist, but not its parents: a misspelt path must not grow a tree.
    static func makeDirectory(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) != 0 else { return }
        let code = errno
        guard code == EEXIST else { throw StoreError(systemError: code, path: path) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .notADirectory(path: path)
        }
    }
}

extension AbsolutePath {
    /// The data directory that a user names.
    init(ofStore path: String) throws(StoreError) {
        do throws(AbsolutePath.Failure) { try self.init(path) } catch { throw .invalidPath(path: path, reason: error.description) }
    }
}

extension StoreError {
    init(systemError code: Int32, path: String) {
        let reason = String(cString: strerror(code))
        self =
            switch code {
            case ENOENT: .missingDirectory(path: path)
            case ENOTDIR: .notADirectory(path: path)
            case EACCES, EPERM, EROFS: .readOnly(path: path, reason: reason)
            case ENOSPC, EDQUOT: .full(path: path)
            default: .failed(path: path, reason: reason)
            }
    }
}
