#if PostgreSQL
internal import FreshetPostgreSQL

// Drops, epochs, access control and compaction. All but the first few lock the namespaces that they change beforehand, in the order
// of their ids, and look again at what they found before.
extension Statement {
    /// Returns whether there was such a namespace. Its rows stay, out of reach, for compaction.
    static let drop = Statement(
        "drop",
        """
        WITH gone AS (DELETE FROM freshet.namespace WHERE name = $1::text RETURNING id),
        noted AS (INSERT INTO freshet.dropped(namespace) SELECT id FROM gone),
        counted AS (UPDATE freshet.generation SET value = value + 1 WHERE bucket = $2::integer AND EXISTS (SELECT FROM gone))
        SELECT count(*) FROM gone
        """)

    /// One row, however many namespaces there are.
    static let rotate = Statement(
        "rotate",
        """
        UPDATE freshet.store SET token = $1::bigint,
            ordinal = greatest(ordinal + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        """)

    static let renewBase = Statement("renew_base", "UPDATE freshet.namespace SET base = $2::text WHERE name = $1::text")

    static let keepAccess = Statement(
        "keep_access",
        """
        INSERT INTO freshet.access(kind, name, value, version) SELECT $1::text, $2::text, $3::bytea, access + 1 FROM freshet.store
        ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value, version = excluded.version
        """)

    static let removeAccess = Statement(
        "remove_access",
        """
        UPDATE freshet.access SET value = NULL, version = (SELECT access + 1 FROM freshet.store)
        WHERE kind = $1::text AND name = $2::text AND value IS NOT NULL
        """)

    static let raiseAccess = Statement("raise_access", "UPDATE freshet.store SET access = access + 1")

    /// Forgets the removals from before the latest $1 versions.
    static let forgetRemovedAccess = Statement(
        "forget_removed_access",
        "DELETE FROM freshet.access WHERE value IS NULL AND version <= (SELECT access FROM freshet.store) - $1::bigint")

    /// Writes to the write-ahead log, and to no row for which the servers would wait.
    static let touch = Statement("touch", "SELECT pg_logical_emit_message(true, 'freshet', '')")

    static let lockIdentifiers = Statement(
        "lock_identifiers", "SELECT id FROM freshet.namespace WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE")

    static let tombstonesOf = Statement(
        "tombstones_of",
        """
        SELECT namespace, revision, collection, id FROM freshet.record
        WHERE namespace = $1::bigint AND deleted IS NOT NULL ORDER BY revision LIMIT $2::bigint
        """)

    static let invalidationsOf = Statement(
        "invalidations_of",
        """
        SELECT namespace, revision FROM freshet.invalidation
        WHERE namespace = $1::bigint AND revision > 0 ORDER BY revision LIMIT $2::bigint
        """)

    static let tombstonesBefore = Statement(
        "tombstones_before",
        """
        SELECT namespace, revision, collection, id FROM freshet.record
        WHERE deleted < $1::bigint ORDER BY deleted, namespace, revision LIMIT $2::bigint
        """)

    static let invalidationsBefore = Statement(
        "invalidations_before",
        """
        SELECT namespace, revision FROM freshet.invalidation
        WHERE since < $1::bigint ORDER BY since, namespace, revision LIMIT $2::bigint
        """)

    /// Returns how many there were, and how many of them belonged to a namespace that exists.
    static let forgetTombstones = Statement(
        "forget_tombstones",
        """
        WITH gone AS (
            DELETE FROM freshet.record WHERE ctid = ANY (ARRAY(
                SELECT r.ctid FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS d(namespace, revision, collection, id)
                CROSS JOIN LATERAL (
                    SELECT r.ctid FROM freshet.record r
                    WHERE r.namespace = d.namespace AND r.collection = d.collection AND r.id = d.id AND r.revision = d.revision LIMIT 1
                ) r
            ))
            RETURNING namespace, revision
        ),
        counted AS (SELECT namespace, count(*) AS count, max(revision) AS newest FROM gone GROUP BY namespace),
        kept AS (
            UPDATE freshet.namespace n SET forgotten = greatest(n.forgotten, c.newest), tombstones = n.tombstones - c.count
            FROM counted c WHERE n.id = c.namespace AND n.id = ANY ($1::bigint[]) RETURNING c.count
        )
        SELECT (SELECT count(*) FROM gone), coalesce((SELECT sum(count) FROM kept), 0)::bigint
        """)

    static let forgetInvalidations = Statement(
        "forget_invalidations",
        """
        WITH gone AS (
            DELETE FROM freshet.invalidation WHERE ctid = ANY (ARRAY(
                SELECT v.ctid FROM unnest($1::bigint[], $2::bigint[]) AS d(namespace, revision)
                CROSS JOIN LATERAL (
                    SELECT v.ctid FROM freshet.invalidation v
                    WHERE v.namespace = d.namespace AND v.revision = d.revision AND v.revision > 0 LIMIT 1
                ) v
            ))
            RETURNING namespace, revision
        ),
        counted AS (SELECT namespace, count(*) AS count, max(revision) AS newest FROM gone GROUP BY namespace),
        kept AS (
            UPDATE freshet.namespace n SET forgotten = greatest(n.forgotten, c.newest), invalidations = n.invalidations - c.count
            FROM counted c WHERE n.id = c.namespace AND n.id = ANY ($1::bigint[]) RETURNING c.count
        )
        SELECT (SELECT count(*) FROM gone), coalesce((SELECT sum(count) FROM kept), 0)::bigint
        """)

    static let idleClients = Statement(
        "idle_clients", "SELECT namespace, client FROM freshet.client WHERE day < $1::bigint ORDER BY day LIMIT $2::bigint")

    /// Returns how many outcomes of namespaces that exist there were, and how many rows of others.
    static let forgetOutcomes = Statement(
        "forget_outcomes",
        """
        WITH idle AS (
            UPDATE freshet.client SET day = NULL WHERE ctid = ANY (ARRAY(
                SELECT c.ctid FROM unnest($1::bigint[], $2::text[]) AS d(namespace, client)
                CROSS JOIN LATERAL (
                    SELECT c.ctid, c.day FROM freshet.client c WHERE c.namespace = d.namespace AND c.client = d.client LIMIT 1
                ) c
                WHERE c.day < $3::bigint
            ))
            RETURNING namespace, client
        ),
        gone AS (
            DELETE FROM freshet.outcome WHERE ctid = ANY (ARRAY(
                SELECT o.ctid FROM idle d
                CROSS JOIN LATERAL (
                    SELECT o.ctid FROM freshet.outcome o WHERE o.namespace = d.namespace AND o.client = d.client OFFSET 0
                ) o
            ))
            RETURNING namespace, count, octet_length(outcomes) AS bytes
        ),
        counted AS (SELECT namespace, sum(count) AS count, sum(bytes) AS bytes, count(*) AS rows FROM gone GROUP BY namespace),
        kept AS (
            UPDATE freshet.namespace n SET outcomes = n.outcomes - c.count, outcome_bytes = n.outcome_bytes - c.bytes
            FROM counted c WHERE n.id = c.namespace AND n.id = ANY ($1::bigint[]) RETURNING c.count, c.rows
        )
        SELECT coalesce((SELECT sum(count) FROM kept), 0)::bigint,
            (coalesce((SELECT sum(rows) FROM counted), 0) - coalesce((SELECT sum(rows) FROM kept), 0))::bigint
        """)

    /// The mark of the retention clock, and the time of the database's wall clock.
    static let retention = Statement(
        "retention", "SELECT retention, wall, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM freshet.store")

    /// The latest of all stamps, for a database that no server with a retention clock has used.
    static let latestStamp = Statement(
        "latest_stamp",
        """
        SELECT greatest(
            (SELECT max(deleted) FROM freshet.record WHERE deleted IS NOT NULL), (SELECT max(since) FROM freshet.invalidation),
            (SELECT max(day) * 86400000 FROM freshet.client WHERE day IS NOT NULL))
        """)

    /// The wall clock is the database's, whichever server raises the mark.
    static let raiseRetention = Statement(
        "raise_retention",
        """
        UPDATE freshet.store SET retention = greatest(retention, $1::bigint),
            wall = greatest(wall, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        RETURNING retention, wall
        """)

    /// One server at a time removes the rows of a dropped namespace.
    static let nextDropped = Statement(
        "next_dropped", "SELECT namespace FROM freshet.dropped ORDER BY namespace LIMIT 1 FOR UPDATE SKIP LOCKED")

    static let purgeRecords = Statement(
        "purge_records",
        """
        DELETE FROM freshet.record WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM freshet.record WHERE namespace = $1::bigint LIMIT $2::bigint
        ))
        """)

    static let purgeInvalidations = Statement(
        "purge_invalidations",
        """
        DELETE FROM freshet.invalidation WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM freshet.invalidation WHERE namespace = $1::bigint LIMIT $2::bigint
        ))
        """)

    static let purgeOutcomes = Statement(
        "purge_outcomes",
        """
        DELETE FROM freshet.outcome WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM freshet.outcome WHERE namespace = $1::bigint LIMIT $2::bigint
        ))
        """)

    static let purgeClients = Statement(
        "purge_clients",
        """
        DELETE FROM freshet.client WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM freshet.client WHERE namespace = $1::bigint LIMIT $2::bigint
        ))
        """)

    static let purged = Statement("purged", "DELETE FROM freshet.dropped WHERE namespace = $1::bigint")
}
#endif
