internal import FreshetSQLite

/// The tables of one generation.
///
/// `value` serves reads, by one descent of one tree. `entry` serves listing, tags and eviction, in narrow rows with indexes, so that a use
/// changes a few bytes, never the value's page. A read trusts nothing but the record in `value`.
enum DiskSchema {
    static let file = "entries.sqlite"
    /// The version of the tables, in `user_version`.
    static let version: Int64 = 2

    private static let statements = [
        "CREATE TABLE value(id INTEGER PRIMARY KEY, record BLOB NOT NULL)",
        """
        CREATE TABLE entry(id INTEGER PRIMARY KEY, key BLOB NOT NULL, bytes INTEGER NOT NULL, recorded INTEGER NOT NULL, \
        verified INTEGER NOT NULL, deadline INTEGER NOT NULL, sliding INTEGER NOT NULL, expires INTEGER, touched INTEGER NOT NULL, \
        used INTEGER NOT NULL, encrypted INTEGER NOT NULL, file INTEGER, tags BLOB)
        """,
        "CREATE INDEX entry_key ON entry(key)",
        "CREATE INDEX entry_used ON entry(used)",
        "CREATE INDEX entry_expires ON entry(expires) WHERE expires IS NOT NULL",
        "CREATE TABLE tag(tag BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(tag, id)) WITHOUT ROWID",
        """
        CREATE TABLE state(only INTEGER PRIMARY KEY CHECK(only = 1), scope TEXT NOT NULL, entries INTEGER NOT NULL, \
        bytes INTEGER NOT NULL, tick INTEGER NOT NULL)
        """,
    ]

    /// Creates the tables in an empty file, for values of this scope.
    static func create(in connection: Connection, scope: String) throws {
        // Before the first table: https://www.sqlite.org/pragma.html#pragma_auto_vacuum
        try connection.pragma("auto_vacuum = INCREMENTAL")
        try connection.pragma("journal_mode = WAL")
        try connection.transaction {
            for statement in statements { try connection.execute(statement) }
            try connection.withStatement("INSERT INTO state VALUES (1, ?1, 0, 0, 0)") { statement in
                try statement.bind(1, scope)
                try statement.run()
            }
            try connection.setUserVersion(version)
        }
    }

    /// Whether the tables are those that ``create(in:scope:)`` makes, to the letter.
    static func isIntact(in connection: Connection) throws -> Bool {
        guard try connection.userVersion == version else { return false }
        return try connection.withStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid") { statement in
            var found: [String] = []
            while try statement.step(), found.count <= statements.count { found.append(statement.text(0)) }
            return found == statements
        }
    }

    /// Whether the file is new.
    static func isEmpty(in connection: Connection) throws -> Bool {
        try connection.withStatement("SELECT count(*) FROM sqlite_schema") { try $0.step() && $0.int64(0) == 0 }
    }

    /// The stored schema of the values; `nil` if the row is lost.
    static func scope(in connection: Connection) throws -> String? {
        try connection.withStatement("SELECT scope FROM state") { try $0.step() ? $0.text(0) : nil }
    }

    /// Sets the pragmas that every connection has.
    static func prepare(_ connection: Connection) throws {
        // SQLite then detects damaged pages, and a damaged schema runs nothing: https://www.sqlite.org/security.html
        try connection.pragma("cell_size_check = ON")
        try connection.pragma("trusted_schema = OFF")
        try connection.pragma("temp_store = MEMORY")
    }
}
