internal import CFreshetSQLite
internal import Glibc

/// A connection to an SQLite database.
///
/// It belongs to one thread at a time, and so do the statements it lends: the class is not `Sendable`, so the compiler lets it
/// move to another thread only as a `sending` value or inside a `Mutex`. So SQLite can run without its own locks.
package final class Connection {
    /// How a file is opened.
    package enum Mode: Hashable, Sendable {
        /// Reads and writes, and makes the file if there is none.
        case create
        /// Reads and writes a file that exists.
        case readWrite
        /// Reads a file that exists.
        case readOnly

        var flags: Int32 {
            switch self {
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        }
    }

    let handle: OpaquePointer
    let path: String
    /// The files that write transactions check; see ``keepPlace(with:)``.
    var place: DatabasePlace?
    let busyTimeout: Int32
    /// The database's file, of a connection that was opened for nonblocking reads.
    let layeredFile: NonblockingFile?
    /// How many pages the write-ahead log had after this connection's last commit; 0 unless
    /// ``endAutomaticCheckpoints()`` was called.
    package fileprivate(set) var logPages = 0
    /// By the address of the literal: found without hashing the text.
    private var staticStatements: [UnsafePointer<UInt8>: Statement] = [:]
    private var statements: [String: Statement] = [:]

    /// Opens the file at an absolute path, or a database in memory for the path `:memory:`. A file that it makes is for its owner alone (0600), and SQLite gives the
    /// write-ahead log and its index the rights of the file: https://www.sqlite.org/tempfiles.html
    ///
    /// - Parameter busyTimeout: how many milliseconds a statement waits for another connection's lock before it fails as
    ///   ``SQLiteError/Category/busy``.
    /// - Parameter nonblockingReads: what ``nonblocking(_:)`` finds in memory; `nil` for a connection without such reads.
    ///   Either all connections of this process to a database have them, or none: ``OpenDatabases`` says why.
    package init(
        path: String, mode: Mode = .create, busyTimeout: Int32 = 5_000, nonblockingReads: ResidentPages? = nil
    ) throws(SQLiteError) {
        // A relative one would lead elsewhere after chdir, for the next connection to the same database.
        guard path.hasPrefix("/") || path == ":memory:" else { throw SQLiteError(code: SQLITE_CANTOPEN, message: "the path is relative") }
        if mode == .create, path != ":memory:" { Self.makePrivate(path) }
        var opened: OpaquePointer?
        let flags = mode.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nonblockingReads == nil ? nil : NonblockingVFS.name)
        guard let opened else { throw SQLiteError(code: code, message: "no memory for a connection") }
        guard code == SQLITE_OK else {
            let failure = SQLiteError.last(of: opened, code: code)
            sqlite3_close_v2(opened)
            throw failure
        }
        handle = opened
        self.path = path
        self.busyTimeout = busyTimeout
        layeredFile = nonblockingReads == nil ? nil : Self.layeredFile(of: opened)
        if let nonblockingReads { layeredFile?.allowNonblockingReads(nonblockingReads) }
        _ = sqlite3_busy_timeout(opened, busyTimeout)
        // A misspelt column in double quotes shall be an error, not a text: https://www.sqlite.org/quirks.html#dblquote
        _ = freshet_database_config(opened, SQLITE_DBCONFIG_DQS_DML, 0)
        _ = freshet_database_config(opened, SQLITE_DBCONFIG_DQS_DDL, 0)
    }

    /// Creates an empty file, which is an empty database, readable for the owner alone. Failures are left to SQLite, which
    /// meets them too and has messages for them. An existing file keeps its rights.
    private static func makePrivate(_ path: String) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    deinit {
        staticStatements.removeAll()
        statements.removeAll()
        // The second version waits for statements that someone still holds, and then closes.
        sqlite3_close_v2(handle)
    }

    /// The number of rows that the last `INSERT`, `UPDATE` or `DELETE` touched.
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// The number of rows that all statements together have touched since the connection was opened.
    package var totalChanges: Int { Int(sqlite3_total_changes64(handle)) }

    /// The `rowid` of the last row inserted.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether a transaction is open. SQLite itself ends one on a full disk, among others.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Leaves it to the caller to move pages from the write-ahead log into the database; ``logPages`` says how many there are. They are
    /// no longer moved at the end of a commit, but still when the database's last connection closes.
    package func endAutomaticCheckpoints() {
        // SQLite calls it within this connection's own commits.
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                if let context { Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages) }
                return SQLITE_OK
            }, context)
    }
}

extension Connection {
    /// Lends the cached statement of a literal text: the quickest way to run one.
    ///
    /// - Complexity: O(1); the text is prepared at its first use.
    package func withStatement<Result>(_ sql: StaticString, _ body: (Statement) throws -> Result) throws -> Result {
        guard sql.hasPointerRepresentation else { return try withStatement(sql.description, body) }
        if let statement = staticStatements[sql.utf8Start], !statement.isLent { return try lend(statement, body) }
        let isNested = staticStatements[sql.utf8Start] != nil
        let statement = try prepare(sql.description, keep: !isNested)
        if !isNested { staticStatements[sql.utf8Start] = statement }
        return try lend(statement, body)
    }

    /// Lends the cached statement of a text made at run time. Make few different ones: each stays prepared.
    ///
    /// Disfavoured, since a literal would otherwise be taken for a `String`, and its text hashed at each use.
    @_disfavoredOverload
    package func withStatement<Result>(_ sql: String, _ body: (Statement) throws -> Result) throws -> Result {
        if let statement = statements[sql], !statement.isLent { return try lend(statement, body) }
        let isNested = statements[sql] != nil
        let statement = try prepare(sql, keep: !isNested)
        if !isNested { statements[sql] = statement }
        return try lend(statement, body)
    }

    /// Runs a statement without parameters, and forgets it. Several may follow each other, parted by semicolons.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw .last(of: handle, code: code, sql: sql) }
    }

    /// A statement to keep: for one that is run so often that looking it up would show. Its user resets it after each run.
    package func statement(_ sql: String) throws(SQLiteError) -> Statement { try prepare(sql, keep: true) }

    func prepare(_ sql: String, keep: Bool) throws(SQLiteError) -> Statement {
        let utf8 = sql.utf8CString
        let outcome: Swift.Result<Statement, SQLiteError> = utf8.withUnsafeBufferPointer { text in
            Swift.Result { () throws(SQLiteError) in
                // utf8CString always ends with a zero, so it has a first byte.
                guard let base = text.baseAddress else { throw SQLiteError(code: SQLITE_MISUSE, message: "no text") }
                return try Statement(database: handle, sql: base, length: Int32(clamping: text.count), keep: keep)
            }
        }
        return try outcome.get()
    }

    private func lend<Result>(_ statement: Statement, _ body: (Statement) throws -> Result) throws -> Result {
        statement.isLent = true
        defer {
            statement.clear()
            statement.isLent = false
        }
        return try body(statement)
    }
}
