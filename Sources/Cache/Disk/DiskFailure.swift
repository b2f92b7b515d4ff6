internal import FreshetSQLite
internal import Glibc

/// A failure beneath a cache, by the action that it calls for.
enum DiskFailure: Error {
    /// The file is damaged: reset the cache.
    case damage(String)
    /// An error that the cache cannot repair, and reports.
    case cache(CacheError)

    init(_ error: any Error, _ directory: String) {
        if let failure = error as? DiskFailure {
            self = failure
        } else if let error = error as? CacheError {
            self = .cache(error)
        } else if let error = error as? SQLiteError {
            self = Self.of(error, directory)
        } else {
            self = .cache(.storageFailed(path: directory, reason: "\(error)"))
        }
    }

    /// Every error that a sound file cannot cause counts as damage: a row that breaks a constraint, a value that is larger than any stored
    /// one, an unknown column.
    private static func of(_ error: SQLiteError, _ directory: String) -> DiskFailure {
        switch error.category {
        case .full: .cache(.diskFull(path: directory))
        case .moved, .movedAfterCommit: .damage("the files of \(directory) were moved, replaced or deleted")
        case .busy, .interrupted, .outOfMemory: .cache(.storageFailed(path: directory, reason: error.description))
        // The format in the file's head may say so too.
        case .readOnly: access(directory, W_OK) == 0 ? .damage(error.description) : .cache(.readOnly(path: directory))
        case .cannotOpen where [EACCES, EROFS, ENOSPC, EDQUOT].contains(error.systemError):
            .cache(DiskControl.error(error.systemError, directory))
        case .cannotOpen,
            .inputOutput where error.systemError != 0:
            .cache(.storageFailed(path: directory, reason: error.description))
        default: .damage(error.description)
        }
    }
}
