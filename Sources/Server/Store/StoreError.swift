internal import FreshetSQLite
package import FreshetWire

/// A failure of a store. After any of them but ``outcomeUnknown(path:reason:)`` nothing of the transaction is stored.
package enum StoreError: Error, Hashable, Sendable {
    /// The path of the directory cannot be used: the reason says what would be right.
    case invalidPath(path: String, reason: String)
    /// The directory's parent is not there: make it.
    case missingDirectory(path: String)
    /// A file is where the directory, or one above it, should be: name another directory, or move the file away.
    case notADirectory(path: String)
    /// Another server has the directory open: stop it, or name another directory.
    case inUse(path: String)
    /// The directory or a file in it was moved, replaced or deleted while the store was open: put it back, or restore a back-up,
    /// and start the server again. Final for this store, whose reads fail too.
    case moved(path: String)
    /// The directory or a file in it cannot be written: give the server's user the right to.
    case readOnly(path: String, reason: String)
    /// The file is something other than a database: name another directory, or move the file away.
    case notADatabase(path: String)
    /// The file is damaged: stop the server and put a back-up in its place.
    case corrupt(path: String, reason: String)
    /// The file was written by a newer Freshet: run that version or a later one.
    case newerSchema(path: String, found: Int64, known: Int64)
    /// The disk or the quota is full: make room; nothing acknowledged is lost.
    case full(path: String)
    /// The namespace has used up its 2^53−1 revisions: drop it, or go on in another.
    case revisionsExhausted(Namespace)
    /// The store cannot be reached, or is not the one that takes writes: try again later.
    case unavailable(path: String, reason: String)
    /// Others have held for too long what the transaction has to lock: try again later.
    case overloaded(path: String, reason: String)
    /// The connection to the store was lost while it committed, and the store could not be asked since: all of the
    /// transaction is stored, or nothing. Read before anything is sent again that has no number.
    case outcomeUnknown(path: String, reason: String)
    /// There is no store to copy from: name another one.
    case noStore(path: String)
    /// The store that a copy is to be written to holds something: name an empty one.
    case notEmpty(path: String)
    /// Servers or other copies are connected to the store that is to be copied, or to be written to: stop them.
    case serversConnected(path: String, connections: Int)
    /// The copy is not the same as the store that it was made of: nothing of it is kept.
    case copyDiffers(path: String, reason: String)
    /// The database, its server or the rights there are not what a store needs: the reason says what to change.
    case unusable(path: String, reason: String)
    /// Anything else: the reason says what.
    case failed(path: String, reason: String)
}

extension StoreError: CustomStringConvertible {
    /// The cause and the remedy, for a person.
    package var description: String {
        switch self {
        case .invalidPath(let path, let reason): "The data directory '\(path)' \(reason)."
        case .missingDirectory(let path):
            "The directory \(path) cannot be made, since the one above it is missing. Make it: mkdir -p \(path)"
        case .notADirectory(let path):
            "\(path) is not a directory, since a file is in its place or above it. Name another directory, or move the file away."
        case .inUse(let path):
            "Another server has \(path) open. Stop it, or give this one another directory."
        case .moved(let path):
            "\(path) was moved, replaced or deleted while the server ran, or its log or its lock was. The server takes no write and answers no "
                + "read until it is started again. Put the directory back, or restore a back-up and start once with --restored."
        case .readOnly(let path, let reason):
            "\(path) cannot be written (\(reason)). Give the server's user the right to write the directory and its files."
        case .notADatabase(let path):
            "\(path) is not a database of Freshet. Give the server another directory, or move the file away."
        case .corrupt(let path, let reason):
            "\(path) is damaged (\(reason)). Stop the server and put a back-up in its place."
        case .newerSchema(let path, let found, let known):
            "\(path) has schema \(found), and this version of Freshet knows schemas up to \(known). Run a newer Freshet; the file is untouched."
        case .full(let path):
            "The disk or the quota behind \(path) is full. Make room; acknowledged writes are stored, and all others can be sent again."
        case .revisionsExhausted(let namespace):
            "The namespace \(namespace) has used up its revisions (2^53-1). Drop it, or go on in another."
        case .unavailable(let path, let reason):
            "\(path) cannot be reached (\(reason)). Nothing of the transaction is stored; it can be sent again."
        case .overloaded(let path, let reason):
            "\(path) is busy (\(reason)). Nothing of the transaction is stored; it can be sent again."
        case .outcomeUnknown(let path, let reason):
            "\(path) did not say whether it has committed (\(reason)). The latest writes are stored or not; numbered ones can be sent again."
        case .noStore(let path):
            "\(path) has no store. Name a data directory, or a database, that a server has used."
        case .notEmpty(let path):
            "\(path) is not empty, and a copy replaces nothing. Name an empty directory or database."
        case .serversConnected(let path, let connections):
            "Servers or other copies have \(connections) connection\(connections == 1 ? "" : "s") to \(path), and a copy must not miss their "
                + "writes. Stop servers with SIGTERM, let other copies end, then copy."
        case .copyDiffers(let path, let reason):
            "The copy in \(path) differs from its source (\(reason)), so it was removed. Check the disks of both, then copy again."
        case .unusable(let path, let reason), .failed(let path, let reason):
            "\(path): \(reason)"
        }
    }

    /// The problem that a client gets. Paths stay on the server.
    package var problem: Problem {
        switch self {
        case .full:
            Problem(.storageFull, "The server's disk is full, so nothing was stored. Send it again once there is room.")
        case .revisionsExhausted:
            Problem(.storageFailed, description)
        case .moved:
            Problem(
                .storageFailed,
                "The server's data was moved, replaced or deleted while it ran, so nothing was stored or read. Its operator has to put it back, "
                    + "or restore a back-up, and start the server again.")
        case .outcomeUnknown:
            Problem(
                .outcomeUnknown,
                "The store did not say whether this is stored: all of it, nothing, or the first writes of a batch. A numbered write can be sent "
                    + "again as it is, after Retry-After; before you send another one again, read the record.")
        case .unavailable:
            Problem(.unavailable, "The server cannot reach its store, so nothing was done. Send it again after Retry-After.")
        case .overloaded:
            Problem(.overloaded, "The server's store is busy with this, so nothing was done. Send it again after Retry-After.")
        default:
            Problem(.storageFailed, "The server's store failed, so nothing was stored; its log says why. Send it again later.")
        }
    }

    init(_ error: SQLiteError, path: String) {
        self =
            switch error.category {
            case .full: .full(path: path)
            case .moved: .moved(path: path)
            case .movedAfterCommit: .outcomeUnknown(path: path, reason: "it was moved, replaced or deleted meanwhile")
            case .readOnly: .readOnly(path: path, reason: error.message)
            case .cannotOpen: .readOnly(path: path, reason: error.message)
            case .corrupt: .corrupt(path: path, reason: error.message)
            case .notADatabase: .notADatabase(path: path)
            case .busy: .inUse(path: path)
            case .constraint, .interrupted, .outOfMemory, .tooBig, .inputOutput, .misuse:
                .failed(path: path, reason: error.description)
            }
    }
}
