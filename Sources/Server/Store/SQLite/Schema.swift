internal import FreshetSQLite
internal import FreshetWire

/// The tables of the store, and the steps that bring a file of any earlier version up to date.
enum Schema {
    /// Marks a file as one of Freshet: "FRSH".
    static let applicationIdentifier: Int64 = 0x4652_5348

    /// The step at index n makes version n + 1 out of version n. Published steps are never changed; new ones are added.
    static let steps: [String] = [first, second, third, fourth, fifth, sixth, seventh, eighth, ninth]

    static var version: Int64 { Int64(steps.count) }

    /// Throws the reason why the file cannot be used, if it cannot. Only reads: a file of another program, or a newer
    /// version, stays as it is.
    ///
    /// - Returns: the version of the file; 0 for a new one.
    static func check(_ connection: Connection, path: String) throws -> Int64 {
        let found = try connection.userVersion
        if try connection.pragma("application_id") != String(applicationIdentifier) {
            let isEmpty = try connection.withStatement("SELECT 1 FROM sqlite_schema LIMIT 1") { try !$0.step() }
            guard found == 0, isEmpty else { throw StoreError.notADatabase(path: path) }
        }
        guard found <= version else { throw StoreError.newerSchema(path: path, found: found, known: version) }
        return found
    }

    /// Brings a file of version `found` up to date. A new one derives its epochs from `seed`, which is random.
    static func migrate(_ connection: Connection, from found: Int64, seed: UInt64) throws {
        guard found < version else { return }
        try connection.transaction {
            if found == 0 { try connection.execute("PRAGMA application_id = \(applicationIdentifier)") }
            for step in steps[Int(found)...] { try connection.execute(step) }
            if found == 0 {
                try connection.withStatement("INSERT INTO store(seed, touched) VALUES(?, 0)") {
                    try $0.bind(1, Int64(bitPattern: seed))
                    try $0.run()
                }
            }
            if found < 5 {
                // Not the seed itself, from which a new store's epochs are derived.
                try connection.withStatement("UPDATE store SET identifier = ?") {
                    try $0.bind(1, StoreIdentifier(bits: EpochSource.mix(~seed)).token)
                    try $0.run()
                }
            }
            try connection.setUserVersion(version)
        }
    }

    /// The identifier of the file's store.
    static func identifier(_ connection: Connection, path: String) throws -> StoreIdentifier {
        let token = try connection.withStatement("SELECT identifier FROM store") { try $0.step() ? $0.optionalText(0) : nil }
        guard let identifier = token.flatMap({ StoreIdentifier($0) }) else {
            throw StoreError.corrupt(path: path, reason: "it does not say which store it is")
        }
        return identifier
    }

    /// - `store`: one row. Epochs are derived from the seed (``EpochSource``); a probe of the disk writes `touched`.
    /// - `generation`: how many namespaces of a bucket of names have been dropped; no row means none.
    /// - `namespace`: counters are kept in the transactions that change them, so that no request counts rows.
    /// - `dropped`: namespaces whose rows are yet to be removed. An `id` is never used again.
    /// - `record`: `value` NULL is a tombstone, and then `deleted` is its time; `content_type` NULL is JSON. `value` is
    ///   the last column of these, since SQLite has to walk over a large value to reach a column behind it. A table
    ///   with a rowid rather than one clustered by its key: values of any size would make the pages of a clustered one
    ///   sparse; inserts measured half as fast there, and updates a fifth slower.
    /// - `invalidation`: apart from the records, whose revisions it must not change. `kind` 0: everything; 1:
    ///   `collection`, with `name` as the prefix; 2: one key, with `name` as its id. One row a scope, so that it does
    ///   not grow with the calls.
    /// - `client`, `outcome`: a row of outcomes holds up to 32 of one batch, `last` being the number of its last.
    private static let first = """
        CREATE TABLE store(seed INTEGER NOT NULL, touched INTEGER NOT NULL);
        CREATE TABLE generation(bucket INTEGER PRIMARY KEY, value INTEGER NOT NULL);
        CREATE TABLE namespace(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            epoch TEXT NOT NULL,
            head INTEGER NOT NULL,
            forgotten INTEGER NOT NULL,
            records INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            invalidations INTEGER NOT NULL
        );
        CREATE TABLE dropped(namespace INTEGER PRIMARY KEY);
        CREATE TABLE record(
            row INTEGER PRIMARY KEY,
            namespace INTEGER NOT NULL,
            collection TEXT NOT NULL,
            id TEXT NOT NULL,
            revision INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            client TEXT,
            write INTEGER,
            content_type TEXT,
            value BLOB,
            UNIQUE(namespace, collection, id)
        );
        CREATE UNIQUE INDEX record_by_revision ON record(namespace, revision);
        CREATE INDEX tombstone_by_time ON record(modified, namespace, revision) WHERE value IS NULL;
        CREATE TABLE invalidation(
            namespace INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            collection TEXT NOT NULL,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            PRIMARY KEY(namespace, kind, collection, name)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX invalidation_by_revision ON invalidation(namespace, revision);
        CREATE INDEX invalidation_by_time ON invalidation(modified, namespace, revision);
        CREATE TABLE client(
            id INTEGER PRIMARY KEY,
            namespace INTEGER NOT NULL,
            client TEXT NOT NULL,
            last INTEGER NOT NULL,
            UNIQUE(namespace, client)
        );
        CREATE TABLE outcome(
            client INTEGER NOT NULL,
            last INTEGER NOT NULL,
            outcomes TEXT NOT NULL,
            PRIMARY KEY(client, last)
        ) WITHOUT ROWID;
        """

    /// An update of a record touches no more indexes than it must, since each costs a tenth of it. The index of
    /// tombstones is by a column that such an update leaves alone. The index of revisions does not check that a
    /// revision is new: the writer uses each only once.
    private static let second = """
        ALTER TABLE record ADD COLUMN deleted INTEGER;
        UPDATE record SET deleted = modified WHERE value IS NULL;
        DROP INDEX tombstone_by_time;
        CREATE INDEX tombstone_by_time ON record(deleted) WHERE deleted IS NOT NULL;
        DROP INDEX record_by_revision;
        CREATE INDEX record_by_revision ON record(namespace, revision);
        """

    /// Counts of everything that grows, and the day of a client's last write, counted from 1970-01-01: NULL while no
    /// outcomes of the client are kept. For clients that are older than this column it is the day of the migration. A
    /// day and not a moment, so that its index changes once a day and not with each batch.
    /// `count` and `bytes` are the number of a row's outcomes and the length of their text, so that no query has to
    /// read the text; NULL in earlier rows.
    private static let third = """
        ALTER TABLE namespace ADD COLUMN tombstones INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE namespace ADD COLUMN clients INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE namespace ADD COLUMN outcomes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE namespace ADD COLUMN outcome_bytes INTEGER NOT NULL DEFAULT 0;
        UPDATE namespace SET tombstones = counted.tombstones
            FROM (SELECT namespace, count(*) AS tombstones FROM record WHERE deleted IS NOT NULL GROUP BY namespace) AS counted
            WHERE counted.namespace = namespace.id;
        UPDATE namespace SET clients = counted.clients
            FROM (SELECT namespace, count(*) AS clients FROM client GROUP BY namespace) AS counted
            WHERE counted.namespace = namespace.id;
        UPDATE namespace SET outcomes = counted.outcomes, outcome_bytes = counted.bytes
            FROM (SELECT client.namespace, sum(json_array_length(outcome.outcomes)) AS outcomes,
                sum(length(CAST(outcome.outcomes AS BLOB))) AS bytes
                FROM outcome JOIN client ON client.id = outcome.client GROUP BY client.namespace) AS counted
            WHERE counted.namespace = namespace.id;
        ALTER TABLE outcome ADD COLUMN count INTEGER;
        ALTER TABLE outcome ADD COLUMN bytes INTEGER;
        ALTER TABLE client ADD COLUMN day INTEGER;
        UPDATE client SET day = CAST(strftime('%s', 'now') AS INTEGER) / 86400
            WHERE EXISTS (SELECT 1 FROM outcome WHERE outcome.client = client.id);
        CREATE INDEX client_by_day ON client(day) WHERE day IS NOT NULL;
        """

    /// Changes no table, but the meaning of `record.write` (``StoredWrite``): an earlier server would take it for a
    /// number, so it must refuse the file.
    private static let fourth = ""

    /// The identifier of the store, made once and kept over restarts and restored back-ups, so that clients recognise
    /// the store at another address.
    private static let fifth = "ALTER TABLE store ADD COLUMN identifier TEXT;"

    /// Keys and revocations (``AccessRow``). An earlier server would serve such a store without access control, so it must
    /// refuse the file.
    private static let sixth = """
        CREATE TABLE access(kind TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(kind, name)) WITHOUT ROWID;
        """

    /// The principal that a client's name belongs to (``ClientOwner``). The first principal that writes under a name of an
    /// earlier file owns it.
    private static let seventh = "ALTER TABLE client ADD COLUMN owner TEXT;"

    /// What a store that was copied from PostgreSQL derives epochs from (``EpochRule``). `token` is 0 otherwise, and then `base`
    /// is NULL and every `epoch` is its own base. Reads need the epoch alone, so they do not compute it.
    private static let eighth = """
        ALTER TABLE store ADD COLUMN token INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE namespace ADD COLUMN base TEXT;
        """

    /// What the store keeps of the retention clock (``RetentionClock/Mark``), NULL until a server has stored it. By that clock are
    /// `record.deleted`, `client.day` and, as they were not before, invalidations: `since`.
    private static let ninth = """
        ALTER TABLE store ADD COLUMN retention INTEGER;
        ALTER TABLE store ADD COLUMN wall INTEGER;
        ALTER TABLE invalidation ADD COLUMN since INTEGER;
        UPDATE invalidation SET since = modified;
        DROP INDEX invalidation_by_time;
        CREATE INDEX invalidation_by_time ON invalidation(since, namespace, revision);
        """
}
