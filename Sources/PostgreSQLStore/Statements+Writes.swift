#if PostgreSQL
internal import FreshetPostgreSQL

// The statements of a write transaction. Those of the first round trip are separate statements, so that each has a snapshot of
// its own, from after the locks were granted.
//
// Each statement leaves PostgreSQL one plan: a search by keys. It keeps the plan that it made first until it has new statistics, so a plan
// that suits the few rows of a new table would otherwise read all of a million later: docs/decisions/0062-postgresql-store.md. Therefore:
// - a lookup by key is a subquery with LIMIT, or with OFFSET 0 where it may find several rows, and no join;
// - rows are removed by their places (`ctid`), which such a subquery finds. They cannot move meanwhile: the namespace is locked;
// - rows of `namespace` that are joined are limited to the ids in a parameter too.
extension Statement {
    /// In the order of the ids, so that transactions do not wait for each other in a circle. By `id` alone it could read the whole table
    /// in the order of its index.
    static let lockNamespaces = Statement(
        "lock_namespaces", "SELECT id FROM freshet.namespace WHERE name = ANY ($1::text[]) ORDER BY id + 0 FOR UPDATE")

    /// As ``lockNamespaces``, without those that another transaction holds.
    static let lockFreeNamespaces = Statement(
        "lock_free_namespaces",
        "SELECT id FROM freshet.namespace WHERE name = ANY ($1::text[]) ORDER BY id + 0 FOR UPDATE SKIP LOCKED")

    /// The transaction's number, the history and incarnation that it is in, and whether its commit waits for the disk and a missing
    /// confirmation of the standby, which is a warning, is sent.
    static let transaction = Statement(
        "transaction",
        """
        SELECT pg_current_xact_id()::text, s.system, s.ordinal, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), s.access,
            (SELECT token::text FROM freshet.incarnation),
            current_setting('synchronous_commit') IN ('on', 'remote_apply')
                AND current_setting('client_min_messages') NOT IN ('error', 'fatal', 'panic')
        FROM freshet.store s
        """)

    static let loadNamespaces = Statement(
        "load_namespaces",
        """
        SELECT s.seed, s.token, g.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes,
            n.tombstones, n.invalidations, n.clients, n.outcomes, n.outcome_bytes, d.place
        FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS d(name, bucket, place)
        CROSS JOIN freshet.store s
        LEFT JOIN LATERAL (SELECT value FROM freshet.generation g WHERE g.bucket = d.bucket LIMIT 1) g ON true
        LEFT JOIN LATERAL (SELECT * FROM freshet.namespace n WHERE n.name = d.name LIMIT 1) n ON true
        """)

    /// The rows of the keys that have one. $2 are places in $1; values are read where they are wanted, up to $6 bytes.
    static let loadRecords = Statement(
        "load_records",
        """
        SELECT d.place, r.revision, r.modified, r.content_type, octet_length(r.value),
            CASE WHEN d.wanted AND octet_length(r.value) <= $6::bigint THEN r.value END
        FROM unnest($2::integer[], $3::text[], $4::text[], $5::boolean[]) WITH ORDINALITY AS d(owner, collection, id, wanted, place)
        CROSS JOIN LATERAL (SELECT id FROM freshet.namespace n WHERE n.name = ($1::text[])[d.owner] LIMIT 1) n
        CROSS JOIN LATERAL (
            SELECT * FROM freshet.record r WHERE r.namespace = n.id AND r.collection = d.collection AND r.id = d.id LIMIT 1
        ) r
        """)

    static let loadClients = Statement(
        "load_clients",
        """
        SELECT d.place, c.last, c.day, c.removed, c.owner
        FROM unnest($2::integer[], $3::text[]) WITH ORDINALITY AS d(owner, client, place)
        CROSS JOIN LATERAL (SELECT id FROM freshet.namespace n WHERE n.name = ($1::text[])[d.owner] LIMIT 1) n
        CROSS JOIN LATERAL (SELECT * FROM freshet.client c WHERE c.namespace = n.id AND c.client = d.client LIMIT 1) c
        """)

    static let readOutcomes = Statement(
        "read_outcomes",
        """
        SELECT last, outcomes FROM freshet.outcome
        WHERE namespace = $1::bigint AND client = $2::text AND last >= $3::bigint AND last <= coalesce(
            (SELECT min(last) FROM freshet.outcome WHERE namespace = $1::bigint AND client = $2::text AND last >= $4::bigint),
            9223372036854775807)
        ORDER BY last
        """)

    /// Makes namespaces whose buckets are as they were when their epochs were derived. The buckets stay locked, so that none of
    /// the namespaces is made, dropped and made again under the same epoch.
    static let makeNamespaces = Statement(
        "make_namespaces",
        """
        INSERT INTO freshet.namespace(name, base)
        SELECT d.name, d.base
        FROM (
            SELECT d.name, d.base, d.bucket, d.generation
            FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[]) AS d(name, base, bucket, generation)
        ) d
        JOIN (SELECT bucket, value FROM freshet.generation WHERE bucket = ANY ($3::integer[]) ORDER BY bucket FOR SHARE) g
            ON g.bucket = d.bucket AND g.value = d.generation
        ORDER BY d.name
        ON CONFLICT (name) DO NOTHING
        RETURNING id, name
        """)

    static let putRecords = Statement(
        "put_records",
        """
        INSERT INTO freshet.record AS r
            (namespace, collection, id, revision, modified, client, write, content_type, deleted, value)
        SELECT d.namespace, d.collection, d.id, d.revision, d.modified, d.client, d.write, d.content_type, d.deleted, d.value
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::text[],
            $9::bigint[], $10::bytea[])
            AS d(namespace, collection, id, revision, modified, client, write, content_type, deleted, value)
        ON CONFLICT (namespace, collection, id) DO UPDATE SET
            revision = excluded.revision, modified = excluded.modified, client = excluded.client, write = excluded.write,
            content_type = excluded.content_type, deleted = excluded.deleted, value = excluded.value
        """)

    /// Removes invalidations of exactly these scopes.
    static let removeInvalidations = Statement(
        "remove_invalidations",
        """
        WITH gone AS (
            DELETE FROM freshet.invalidation WHERE ctid = ANY (ARRAY(
                SELECT v.ctid FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::text[]) AS d(namespace, kind, collection, name)
                CROSS JOIN LATERAL (
                    SELECT v.ctid FROM freshet.invalidation v
                    WHERE v.namespace = d.namespace AND v.kind = d.kind AND v.collection = d.collection AND v.name = d.name LIMIT 1
                ) v
            ))
            RETURNING namespace
        )
        UPDATE freshet.namespace n SET invalidations = n.invalidations - c.count
        FROM (SELECT namespace, count(*) AS count FROM gone GROUP BY namespace) c
        WHERE n.id = c.namespace AND n.id = ANY ($1::bigint[])
        """)

    /// Removes at most $5 invalidations of keys and prefixes of a collection, with names from $3 up to below $4.
    static let removeRange = Statement(
        "remove_range",
        """
        WITH gone AS (
            DELETE FROM freshet.invalidation WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM freshet.invalidation
                WHERE namespace = $1::bigint AND kind IN (1, 2) AND collection = $2::text AND name >= $3::text AND name < $4::text
                LIMIT $5::bigint
            ))
            RETURNING namespace
        )
        UPDATE freshet.namespace SET invalidations = invalidations - (SELECT count(*) FROM gone)
        WHERE id = $1::bigint AND EXISTS (SELECT FROM gone)
        """)

    /// Removes at most $2 invalidations of a namespace.
    static let removeAllInvalidations = Statement(
        "remove_all_invalidations",
        """
        WITH gone AS (
            DELETE FROM freshet.invalidation WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM freshet.invalidation WHERE namespace = $1::bigint LIMIT $2::bigint
            ))
            RETURNING namespace
        )
        UPDATE freshet.namespace SET invalidations = invalidations - (SELECT count(*) FROM gone)
        WHERE id = $1::bigint AND EXISTS (SELECT FROM gone)
        """)

    static let addInvalidations = Statement(
        "add_invalidations",
        """
        INSERT INTO freshet.invalidation(namespace, kind, collection, name, revision, modified, since)
        SELECT d.namespace, d.kind, d.collection, d.name, d.revision, d.modified, d.since
        FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
            AS d(namespace, kind, collection, name, revision, modified, since)
        """)

    static let putClients = Statement(
        "put_clients",
        """
        INSERT INTO freshet.client(namespace, client, last, day, removed, owner)
        SELECT d.namespace, d.client, d.last, d.day, d.removed, d.owner
        FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
            AS d(namespace, client, last, day, removed, owner)
        ON CONFLICT (namespace, client) DO UPDATE SET
            last = excluded.last, day = excluded.day, removed = excluded.removed, owner = excluded.owner
        """)

    static let addOutcomes = Statement(
        "add_outcomes",
        """
        INSERT INTO freshet.outcome(namespace, client, last, count, outcomes)
        SELECT d.namespace, d.client, d.last, d.count, d.outcomes
        FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[]) AS d(namespace, client, last, count, outcomes)
        """)

    /// Removes the rows of outcomes whose last numbers are at most $3, for each of the clients.
    static let removeOutcomes = Statement(
        "remove_outcomes",
        """
        WITH gone AS (
            DELETE FROM freshet.outcome WHERE ctid = ANY (ARRAY(
                SELECT o.ctid FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS d(namespace, client, last)
                CROSS JOIN LATERAL (
                    SELECT o.ctid FROM freshet.outcome o
                    WHERE o.namespace = d.namespace AND o.client = d.client AND o.last <= d.last OFFSET 0
                ) o
            ))
            RETURNING namespace, count, octet_length(outcomes) AS bytes
        )
        UPDATE freshet.namespace n SET outcomes = n.outcomes - c.count, outcome_bytes = n.outcome_bytes - c.bytes
        FROM (SELECT namespace, sum(count) AS count, sum(bytes) AS bytes FROM gone GROUP BY namespace) c
        WHERE n.id = c.namespace AND n.id = ANY ($1::bigint[])
        """)

    /// Counters that other statements change too are changed by differences.
    static let putNamespaces = Statement(
        "put_namespaces",
        """
        UPDATE freshet.namespace n SET token = s.token, fork = CASE WHEN n.token = s.token THEN n.fork ELSE n.head END,
            head = d.head, records = d.records, bytes = d.bytes, tombstones = d.tombstones, clients = d.clients,
            invalidations = n.invalidations + d.invalidations, outcomes = n.outcomes + d.outcomes,
            outcome_bytes = n.outcome_bytes + d.outcome_bytes
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bigint[])
            AS d(id, head, records, bytes, tombstones, clients, invalidations, outcomes, outcome_bytes)
        CROSS JOIN freshet.store s
        WHERE n.id = d.id AND n.id = ANY ($1::bigint[])
        """)
}
#endif
