internal import CFreshetSQLite
internal import Glibc

/// A failure that SQLite reported.
///
/// Match it by its category, which says how to react:
///
///     do { try … } catch let error as SQLiteError where error.category == .full { … }
package struct SQLiteError: Error, Hashable, Sendable {
    /// The extended result code, as listed at <https://www.sqlite.org/rescode.html>.
    package let code: Int32
    /// What SQLite said.
    package let message: String
    /// The statement that failed, where there was one.
    package let sql: String?
    /// The operating system's `errno` behind the failure, or 0.
    package let systemError: Int32

    package init(code: Int32, message: String, sql: String? = nil, systemError: Int32 = 0) {
        self.code = code
        self.message = message
        self.sql = sql
        self.systemError = systemError
    }
}

extension SQLiteError {
    /// `SQLITE_READONLY_DBMOVED`, an expression that Swift cannot import.
    private static let databaseMoved = SQLITE_READONLY | 4 << 8
    /// `SQLITE_IOERR_VNODE`, by which SQLite on other systems reports a file that was unlinked while in use.
    private static let fileUnlinked = SQLITE_IOERR | 27 << 8

    /// The failure of a connection whose files are no longer at their paths.
    static func moved(afterCommit: Bool) -> SQLiteError {
        SQLiteError(
            code: afterCommit ? fileUnlinked : databaseMoved,
            message: "the database, its log or its lock was moved, replaced or deleted while it was open")
    }

    /// The primary result code, the low byte of the extended one.
    package var primaryCode: Int32 { code & 0xFF }

    package var category: Category {
        switch primaryCode {
        case SQLITE_FULL: .full
        case SQLITE_READONLY where code == Self.databaseMoved: .moved
        case SQLITE_IOERR where code == Self.fileUnlinked: .movedAfterCommit
        case SQLITE_READONLY, SQLITE_PERM: .readOnly
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_NOTADB: .notADatabase
        // The last: others held the locks of the write-ahead log for longer than SQLite tried.
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
        case SQLITE_CANTOPEN where systemError == ENOSPC || systemError == EDQUOT: .full
        case SQLITE_CANTOPEN: .cannotOpen
        case SQLITE_CONSTRAINT: .constraint
        case SQLITE_INTERRUPT: .interrupted
        case SQLITE_NOMEM: .outOfMemory
        // SQLITE_IOERR_NOMEM, an expression that Swift cannot import.
        case SQLITE_IOERR where code == SQLITE_IOERR | 12 << 8: .outOfMemory
        case SQLITE_TOOBIG: .tooBig
        // The file of shared memory and fsync report a full disk as an input/output error: only `errno`
        // shows the cause.
        case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT: .full
        case SQLITE_IOERR where systemError == EROFS: .readOnly
        case SQLITE_IOERR: .inputOutput
        default: .misuse
        }
    }
}

extension SQLiteError {
    /// The kinds of failures, by the reaction that they call for.
    package enum Category: Hashable, Sendable, CaseIterable {
        /// The disk or the quota is full: nothing was stored; make room and try again.
        case full
        /// The files were moved, replaced or deleted while they were open, and nothing was stored: put them back, or restore a
        /// back-up, and open the database again.
        case moved
        /// The same, during the commit: the committed data is in the files that were moved.
        case movedAfterCommit
        /// The file or its directory may not be written: give this user the right to write both.
        case readOnly
        /// The file is damaged: put a back-up in its place.
        case corrupt
        /// The file is something other than a database: name another path.
        case notADatabase
        /// Another connection holds the lock: try again, or close the other program.
        case busy
        /// The file cannot be opened: make its directory, or give this user the right to read it.
        case cannotOpen
        /// A constraint of the schema forbids the row: the caller's rows contradict each other.
        case constraint
        /// The statement was interrupted: run it again if its result is still wanted.
        case interrupted
        /// Memory ran out: nothing was stored; try again with less.
        case outOfMemory
        /// A string, blob or row is over SQLite's limit of 10^9 bytes: store less in one row.
        case tooBig
        /// The disk failed: look at the kernel's log, then at the disk.
        case inputOutput
        /// The statement or its use is wrong: a mistake in the program.
        case misuse

        /// What to do about it, in one sentence for a person.
        package var advice: String {
            switch self {
            case .full: "Nothing was stored: make room on the disk, or raise the quota, and try again."
            case .moved: "Nothing was stored: put the files back, or restore a back-up, then open the database again."
            case .movedAfterCommit:
                "The committed data is in the files that were moved: put them back, or restore a back-up, then open the database again."
            case .readOnly: "Give this user the right to write the file and its directory."
            case .corrupt: "The file is damaged: stop the program and put a back-up in its place."
            case .notADatabase: "The file is not an SQLite database: name another path, or move the file away."
            case .busy: "Another program holds the file: try again, or stop the other program."
            case .cannotOpen: "Make the directory, and give this user the right to read and write it."
            case .constraint: "The row contradicts one that is stored: this is a mistake in the program."
            case .interrupted: "The statement was interrupted: run it again if its result is still wanted."
            case .outOfMemory: "Nothing was stored: give the program more memory and try again."
            case .tooBig: "One row may hold at most 1,000,000,000 bytes: store less in it."
            case .inputOutput: "The disk failed: look at the kernel's log, then at the disk."
            case .misuse: "This is a mistake in the program."
            }
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        var text = "SQLite: \(message) (code \(code)"
        if systemError != 0 { text += ", system error \(systemError) \(String(cString: strerror(systemError)))" }
        text += "). \(category.advice)"
        if let sql { text += " In: \(sql)" }
        return text
    }
}
