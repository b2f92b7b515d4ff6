#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer
internal import FreshetWire

/// The tables of the store, and the steps that bring a database of any earlier version up to date.
enum Schema {
    /// The step at index n makes version n + 1 out of version n. Published steps are never changed; new ones are added.
    static let steps: [StaticString] = [first, second, third, fourth]

    static var version: Int64 { Int64(steps.count) }

    /// Brings the database up to date, and makes the schema if there is none. Servers that start at the same time wait for each other.
    ///
    /// - Parameters:
    ///   - seed: random; a new store derives its epochs from it.
    ///   - place: where the server writes now.
    static func migrate(_ connection: Connection, seed: UInt64, place: ServerPlace, label: String) throws {
        let deadline = Deadline(after: .seconds(600))
        _ = try connection.run(.begin, by: deadline)
        do {
            _ = try connection.exchange([Request(.schemaSettings), Request(.lockSchema)], by: deadline)
            let found = try version(connection, by: deadline)
            guard found <= version else { throw StoreError.newerSchema(path: label, found: found, known: version) }
            if found < version {
                for step in steps[Int(found)...] { try connection.execute(step, by: deadline) }
                if found == 0 { try fill(connection, seed, place, by: deadline) }
                var parameters = Parameters()
                parameters.add(version)
                _ = try connection.run(.setVersion, parameters, by: deadline)
            }
            _ = try connection.run(.commit, by: deadline)
        } catch {
            // The error to report is the first. If this fails too, the connection is not used again.
            _ = try? connection.run(.rollback, by: deadline)
            throw error
        }
    }

    /// The version of the database's schema; 0 if there is none.
    static func version(_ connection: Connection, by deadline: Deadline) throws -> Int64 {
        let found = try connection.run(.hasSchema, by: deadline)
        guard try found.count == 1 && found.bool(0, 0) else { return 0 }
        let row = try connection.run(.version, by: deadline)
        return row.count == 1 ? try row.int64(0, 0) : 0
    }

    private static func fill(_ connection: Connection, _ seed: UInt64, _ place: ServerPlace, by deadline: Deadline) throws {
        var parameters = Parameters()
        // Not the seed itself, from which the epochs are derived.
        parameters.add(StoreIdentifier(bits: EpochSource.mix(~seed)).token)
        parameters.add(Int64(bitPattern: seed))
        parameters.add(place.system)
        parameters.add(place.timeline)
        _ = try connection.run(.fillStore, parameters, by: deadline)
        _ = try connection.run(.fillGenerations, by: deadline)
    }

    /// - `store`: one row. Epochs are derived from `seed` and `token`: ``EpochRule``. `ordinal` rises with each change of `token`.
    ///   `system` and `timeline` say where the row was last written: ``ServerPlace``. `access` is the version of the access rows.
    /// - `generation`: how many namespaces of a bucket of names have been dropped. All rows exist, so that they can be locked.
    /// - `namespace`: counters are kept in the transactions that change them, so that no request counts rows. An `id` is
    ///   never used again. No index has a column that a write changes, so that all updates are heap-only.
    /// - `dropped`: namespaces whose rows are yet to be removed.
    /// - `record`: `value` NULL is a tombstone, and then `deleted` is its time; `content_type` NULL is JSON. `write` is a
    ///   `StoredWrite`. The index of revisions does not check that a revision is new: each is taken under the namespace's lock.
    /// - `invalidation`: `kind` 0: everything; 1: `collection`, with `name` as the prefix; 2: one key, with `name` as its id.
    /// - `client`: `day` is the day of the last write, NULL while no outcomes are kept; `removed` the number up to which
    ///   outcomes were removed; `owner` the principal that the name belongs to.
    /// - `outcome`: up to 32 outcomes of one batch, `last` being the number of its last.
    /// - `access`: keys and revocations, each with the version that changed it last. `value` NULL: removed, which is known for a
    ///   while. Transactions lock the table, so that none is decided by rows of another version: ``Statement/lockAccess``.
    ///
    /// Names are compared by their bytes, hence the collation. All revisions are positive: the condition of an index of revisions
    /// keeps it from searches for a key, for which PostgreSQL may choose it while a table is new, and then reads the whole namespace.
    private static let first: StaticString = """
        CREATE SCHEMA IF NOT EXISTS freshet;
        CREATE TABLE freshet.store(
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            schema bigint NOT NULL,
            identifier text NOT NULL,
            seed bigint NOT NULL,
            system bigint NOT NULL,
            timeline bigint NOT NULL,
            ordinal bigint NOT NULL,
            token bigint NOT NULL,
            access bigint NOT NULL DEFAULT 0
        );
        CREATE TABLE freshet.generation(bucket integer PRIMARY KEY, value bigint NOT NULL);
        CREATE TABLE freshet.namespace(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text COLLATE "C" NOT NULL UNIQUE,
            base text NOT NULL,
            head bigint NOT NULL DEFAULT 0,
            forgotten bigint NOT NULL DEFAULT 0,
            records bigint NOT NULL DEFAULT 0,
            bytes bigint NOT NULL DEFAULT 0,
            tombstones bigint NOT NULL DEFAULT 0,
            invalidations bigint NOT NULL DEFAULT 0,
            clients bigint NOT NULL DEFAULT 0,
            outcomes bigint NOT NULL DEFAULT 0,
            outcome_bytes bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
        CREATE TABLE freshet.dropped(namespace bigint PRIMARY KEY);
        CREATE TABLE freshet.record(
            namespace bigint NOT NULL,
            collection text COLLATE "C" NOT NULL,
            id text COLLATE "C" NOT NULL,
            revision bigint NOT NULL,
            modified bigint NOT NULL,
            client text COLLATE "C",
            write bigint,
            content_type text,
            deleted bigint,
            value bytea,
            PRIMARY KEY (namespace, collection, id)
        ) WITH (
            fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1,
            autovacuum_vacuum_cost_delay = 0
        );
        CREATE INDEX record_by_revision ON freshet.record(namespace, revision) WHERE revision > 0;
        CREATE INDEX tombstone_by_time ON freshet.record(deleted) WHERE deleted IS NOT NULL;
        CREATE INDEX tombstone_by_revision ON freshet.record(namespace, revision) WHERE deleted IS NOT NULL;
        CREATE TABLE freshet.invalidation(
            namespace bigint NOT NULL,
            kind smallint NOT NULL,
            collection text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            revision bigint NOT NULL,
            modified bigint NOT NULL,
            PRIMARY KEY (namespace, kind, collection, name)
        ) WITH (autovacuum_vacuum_scale_factor = 0.02);
        CREATE INDEX invalidation_by_revision ON freshet.invalidation(namespace, revision) WHERE revision > 0;
        CREATE INDEX invalidation_by_time ON freshet.invalidation(modified);
        CREATE TABLE freshet.client(
            namespace bigint NOT NULL,
            client text COLLATE "C" NOT NULL,
            last bigint NOT NULL,
            day bigint,
            removed bigint NOT NULL DEFAULT 0,
            owner text,
            PRIMARY KEY (namespace, client)
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
        CREATE INDEX client_by_day ON freshet.client(day) WHERE day IS NOT NULL;
        CREATE TABLE freshet.outcome(
            namespace bigint NOT NULL,
            client text COLLATE "C" NOT NULL,
            last bigint NOT NULL,
            count bigint NOT NULL,
            outcomes bytea NOT NULL,
            PRIMARY KEY (namespace, client, last)
        ) WITH (autovacuum_vacuum_scale_factor = 0.02);
        CREATE TABLE freshet.access(
            kind text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            value bytea,
            version bigint NOT NULL,
            PRIMARY KEY (kind, name)
        );
        CREATE INDEX access_by_version ON freshet.access(version);
        CREATE INDEX access_removed ON freshet.access(version) WHERE value IS NULL;
        """

    /// - `incarnation`: one row with a random token. PostgreSQL empties an unlogged table when it recovers from a crash, so another
    ///   token shows that it has: ``Statement/transactionStatus``. A clean restart keeps the row.
    private static let second: StaticString = """
        CREATE UNLOGGED TABLE freshet.incarnation(one boolean PRIMARY KEY DEFAULT true CHECK (one), token bigint NOT NULL);
        """

    /// - `store`: `continued` is the token before `continuing`. As long as that is the store's token, everything that the store had
    ///   when it was renewed was there under the token before: a promotion takes away the end of a history and changes nothing else.
    /// - `namespace`: `token` is the store's at the last change of `head`, and `fork` is the head when it became that one. NULL: none since
    ///   before this version.
    private static let third: StaticString = """
        ALTER TABLE freshet.store ADD continued bigint, ADD continuing bigint;
        ALTER TABLE freshet.namespace ADD token bigint, ADD fork bigint;
        """

    /// - `store`: `retention` and `wall` are a `RetentionClock.Mark`, NULL until a server has stored one.
    /// - `record.deleted` and `client.day` are by the retention clock, and so is `since`, the time of an invalidation.
    private static let fourth: StaticString = """
        ALTER TABLE freshet.store ADD retention bigint, ADD wall bigint;
        ALTER TABLE freshet.invalidation ADD since bigint;
        UPDATE freshet.invalidation SET since = modified;
        ALTER TABLE freshet.invalidation ALTER since SET NOT NULL;
        DROP INDEX freshet.invalidation_by_time;
        CREATE INDEX invalidation_by_time ON freshet.invalidation(since);
        """
}
#endif
