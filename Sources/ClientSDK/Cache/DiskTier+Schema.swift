internal import FreshetSQLite
internal import FreshetWire

extension DiskTier {
    /// The schema that this version reads and writes. A file with a higher `user_version` is refused untouched.
    static let schemaVersion: Int64 = 5

    /// From each version to the next.
    private static let migrations: [String] = [
        // The primary key of an entry's row is a number rather than the record's key, since values may be large:
        // https://www.sqlite.org/withoutrowid.html#when_to_use_without_rowid
        // A row with a null type means that there is no record, one with an empty type that its value is not on this device.
        """
        CREATE TABLE entry(
          collection TEXT NOT NULL, id TEXT NOT NULL, epoch TEXT NOT NULL, revision INTEGER NOT NULL, as_of INTEGER NOT NULL,
          pass INTEGER NOT NULL, type TEXT, value BLOB, modified INTEGER, verified INTEGER NOT NULL, origin INTEGER NOT NULL);
        CREATE UNIQUE INDEX entry_key ON entry(collection, id);
        CREATE TABLE frozen(
          collection TEXT NOT NULL, id TEXT NOT NULL, epoch TEXT NOT NULL, revision INTEGER NOT NULL, as_of INTEGER NOT NULL,
          pass INTEGER NOT NULL, type TEXT, value BLOB, modified INTEGER, verified INTEGER NOT NULL, origin INTEGER NOT NULL);
        CREATE UNIQUE INDEX frozen_key ON frozen(collection, id);
        CREATE TABLE outbox(receipt INTEGER PRIMARY KEY, collection TEXT NOT NULL, id TEXT NOT NULL, row BLOB NOT NULL);
        CREATE TABLE state(only INTEGER PRIMARY KEY CHECK(only = 1), namespace TEXT NOT NULL, state BLOB NOT NULL);
        """,
        // The rows of entries that were used since the last eviction.
        "CREATE TABLE used(id INTEGER PRIMARY KEY);",
        // Shows which writes of this device the record of a key in the outbox contains. An earlier file does not store
        // this, so there nothing is known about those records, and a device with waiting writes verifies everything
        // (its scope is no longer that of its settings).
        """
        DROP TABLE frozen;
        CREATE TABLE watermark(
          collection TEXT NOT NULL, id TEXT NOT NULL, epoch TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY(collection, id)
        ) WITHOUT ROWID;
        DELETE FROM entry WHERE (collection, id) IN (SELECT collection, id FROM outbox);
        UPDATE state SET state = CAST(json_set(state, '$.scope', 'before watermarks') AS BLOB) WHERE EXISTS (SELECT 1 FROM outbox);
        """,
        // Finds the records that are to be read again, without reading the others. An earlier file does not store
        // which records were invalidated or came without their values, so a device verifies everything (its scope is
        // no longer that of its settings).
        """
        ALTER TABLE entry ADD COLUMN invalidated INTEGER;
        CREATE INDEX entry_refresh ON entry(collection, id) WHERE invalidated IS NOT NULL OR type = '';
        UPDATE state SET state = CAST(json_set(state, '$.scope', 'before refreshes') AS BLOB);
        """,
        // Rejected writes that the user has not retried or discarded, in the order of their rejection.
        """
        CREATE TABLE rejection(place INTEGER PRIMARY KEY, receipt INTEGER NOT NULL UNIQUE, size INTEGER NOT NULL, row BLOB NOT NULL);
        """,
    ]

    /// Migrates the file to ``schemaVersion``, in one transaction for all steps.
    static func migrate(_ connection: Connection, path: String) throws {
        let found = try connection.userVersion
        guard found <= schemaVersion else {
            throw ClientError.newerSchema(path: path, found: Int(found), supported: Int(schemaVersion))
        }
        guard found < schemaVersion else { return }
        try connection.transaction {
            for migration in migrations[Int(max(0, found))...] { try connection.execute(migration) }
            try connection.setUserVersion(schemaVersion)
        }
    }
}
