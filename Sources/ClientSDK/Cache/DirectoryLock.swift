internal import FreshetPlatform
internal import FreshetSQLite
internal import Glibc

/// Protects a client's directory from a second client: two at once would send each other's outbox.
enum DirectoryLock {
    /// Creates the directory if there is none, and locks it. The lock's file names the holder's process, for the error.
    static func take(_ directory: String) throws(ClientError) -> FileLock {
        do throws(SystemFailure) { try DirectoryTree.create(directory) } catch { throw self.error(error.code, error.path, directory) }
        let path = directory + "/freshet.lock"
        do {
            let lock = try FileLock(path: path)
            lock.setContent("process \(getpid())\n")
            return lock
        } catch {
            switch error {
            case .held(let content): throw .directoryInUse(path: directory, holder: holder(content))
            case .system(let code): throw self.error(code, path, directory)
            }
        }
    }

    private static func holder(_ content: String) -> String {
        let text = content.prefix { $0 != "\n" }
        return text.isEmpty ? "another client" : text == "process \(getpid())" ? "another client of this \(text)" : String(text)
    }

    private static func error(_ code: Int32, _ path: String, _ directory: String) -> ClientError {
        switch code {
        case EACCES, EROFS, EPERM: .readOnly(path: directory)
        case ENOSPC, EDQUOT: .diskFull(path: directory)
        default: .storageFailed(path: path, "\(String(cString: strerror(code))): name a directory that can be made and written")
        }
    }
}
