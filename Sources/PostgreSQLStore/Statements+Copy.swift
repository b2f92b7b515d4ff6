#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer

// A copy of the whole store. A page of rows is searched by a key in an index, and ends where its values have too many bytes; the first
// row comes whatever its size. Rows of dropped namespaces are left out by a subquery, for which PostgreSQL can choose no join that
// reads the whole table for each page.
extension Statement {
    /// The time between two pages depends on the other end.
    static let copySettings = Statement(
        "copy_settings",
        "SELECT set_config('statement_timeout', '600s', true), set_config('idle_in_transaction_session_timeout', '0', true)")

    /// Within a transaction, PostgreSQL repeats what it has said of the connections.
    static let forgetActivity = Statement("forget_activity", "SELECT pg_stat_clear_snapshot()")
    static let otherConnections = Statement(
        "other_connections",
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'freshet' AND pid <> pg_backend_pid()
        """)

    static let storeIsEmpty = Statement(
        "store_is_empty",
        """
        SELECT NOT EXISTS (SELECT FROM freshet.namespace) AND NOT EXISTS (SELECT FROM freshet.dropped)
            AND NOT EXISTS (SELECT FROM freshet.access)
        """)

    static let copiedHeader = Statement("copied_header", "SELECT identifier, seed, token, access, retention, wall FROM freshet.store")
    static let setCopiedHeader = Statement(
        "set_copied_header",
        """
        UPDATE freshet.store SET identifier = $1::text, seed = $2::bigint, token = $3::bigint, access = $4::bigint,
            retention = $5::bigint, wall = $6::bigint,
            ordinal = greatest(ordinal + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
            continued = NULL, continuing = NULL
        """)
    static let resetGenerations = Statement("reset_generations", "UPDATE freshet.generation SET value = 0 WHERE value <> 0")
    /// The number of the next namespace is above those of all that were copied.
    static let continueIdentifiers = Statement(
        "continue_identifiers",
        """
        SELECT setval(pg_get_serial_sequence('freshet.namespace', 'id')::regclass, greatest((SELECT max(id) FROM freshet.namespace), 1))
        """)

    static func copied(_ table: StoredTable) -> Statement {
        switch table {
        case .generation: copiedGenerations
        case .namespace: copiedNamespaces
        case .record: copiedRecords
        case .invalidation: copiedInvalidations
        case .client: copiedClients
        case .outcome: copiedOutcomes
        case .access: copiedAccess
        }
    }

    static func copying(_ table: StoredTable) -> Statement {
        switch table {
        case .generation: copyingGenerations
        case .namespace: copyingNamespaces
        case .record: copyingRecords
        case .invalidation: copyingInvalidations
        case .client: copyingClients
        case .outcome: copyingOutcomes
        case .access: copyingAccess
        }
    }

    // MARK: Reading. The last parameter bounds the bytes of a page; a table without values has no use for it.

    private static let copiedGenerations = Statement(
        "copied_generations",
        """
        SELECT bucket, value FROM freshet.generation
        WHERE bucket > $1::bigint AND value <> 0 AND $3::bigint > 0 ORDER BY bucket LIMIT $2::bigint
        """)

    private static let copiedNamespaces = Statement(
        "copied_namespaces",
        """
        SELECT id, name, base, head, forgotten, records, bytes, tombstones, invalidations, clients, outcomes, outcome_bytes
        FROM freshet.namespace WHERE id > $1::bigint AND $3::bigint > 0 ORDER BY id LIMIT $2::bigint
        """)

    private static let copiedRecords = Statement(
        "copied_records",
        """
        SELECT namespace, collection, id, revision, modified, client, write, content_type, deleted, value
        FROM (
            SELECT r.*, coalesce(sum(r.size) OVER (
                ORDER BY r.namespace, r.collection, r.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
            FROM (
                SELECT r.*, coalesce(octet_length(r.value), 0) AS size FROM freshet.record r
                WHERE (r.namespace, r.collection, r.id) > ($1::bigint, $2::text, $3::text)
                    AND (SELECT true FROM freshet.namespace n WHERE n.id = r.namespace)
                ORDER BY r.namespace, r.collection, r.id LIMIT $4::bigint
            ) r
        ) r
        WHERE before = 0 OR before + size <= $5::bigint ORDER BY namespace, collection, id
        """)

    private static let copiedInvalidations = Statement(
        "copied_invalidations",
        """
        SELECT v.namespace, v.kind, v.collection, v.name, v.revision, v.modified, v.since FROM freshet.invalidation v
        WHERE (v.namespace, v.kind, v.collection, v.name) > ($1::bigint, $2::bigint, $3::text, $4::text) AND $6::bigint > 0
            AND (SELECT true FROM freshet.namespace n WHERE n.id = v.namespace)
        ORDER BY v.namespace, v.kind, v.collection, v.name LIMIT $5::bigint
        """)

    private static let copiedClients = Statement(
        "copied_clients",
        """
        SELECT c.namespace, c.client, c.last, c.day, c.owner FROM freshet.client c
        WHERE (c.namespace, c.client) > ($1::bigint, $2::text) AND $4::bigint > 0
            AND (SELECT true FROM freshet.namespace n WHERE n.id = c.namespace)
        ORDER BY c.namespace, c.client LIMIT $3::bigint
        """)

    private static let copiedOutcomes = Statement(
        "copied_outcomes",
        """
        SELECT namespace, client, last, count, outcomes
        FROM (
            SELECT o.*, coalesce(sum(o.size) OVER (
                ORDER BY o.namespace, o.client, o.last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
            FROM (
                SELECT o.*, octet_length(o.outcomes) AS size FROM freshet.outcome o
                WHERE (o.namespace, o.client, o.last) > ($1::bigint, $2::text, $3::bigint)
                    AND (SELECT true FROM freshet.namespace n WHERE n.id = o.namespace)
                ORDER BY o.namespace, o.client, o.last LIMIT $4::bigint
            ) o
        ) o
        WHERE before = 0 OR before + size <= $5::bigint ORDER BY namespace, client, last
        """)

    /// A removed row is known for servers that have had it, which these are not.
    private static let copiedAccess = Statement(
        "copied_access",
        """
        SELECT kind, name, value FROM freshet.access
        WHERE (kind, name) > ($1::text, $2::text) AND value IS NOT NULL AND $4::bigint > 0 ORDER BY kind, name LIMIT $3::bigint
        """)

    // MARK: Writing

    private static let copyingGenerations = Statement(
        "copying_generations",
        """
        UPDATE freshet.generation g SET value = d.value FROM unnest($1::bigint[], $2::bigint[]) AS d(bucket, value) WHERE g.bucket = d.bucket
        """)

    private static let copyingNamespaces = Statement(
        "copying_namespaces",
        """
        INSERT INTO freshet.namespace
            (id, name, base, head, forgotten, records, bytes, tombstones, invalidations, clients, outcomes, outcome_bytes)
        OVERRIDING SYSTEM VALUE
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
        """)

    private static let copyingRecords = Statement(
        "copying_records",
        """
        INSERT INTO freshet.record(namespace, collection, id, revision, modified, client, write, content_type, deleted, value)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::text[],
            $9::bigint[], $10::bytea[])
        """)

    private static let copyingInvalidations = Statement(
        "copying_invalidations",
        """
        INSERT INTO freshet.invalidation(namespace, kind, collection, name, revision, modified, since)
        SELECT d.namespace, d.kind::smallint, d.collection, d.name, d.revision, d.modified, d.since
        FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
            AS d(namespace, kind, collection, name, revision, modified, since)
        """)

    private static let copyingClients = Statement(
        "copying_clients",
        """
        INSERT INTO freshet.client(namespace, client, last, day, owner)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[])
        """)

    private static let copyingOutcomes = Statement(
        "copying_outcomes",
        """
        INSERT INTO freshet.outcome(namespace, client, last, count, outcomes)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[])
        """)

    private static let copyingAccess = Statement(
        "copying_access",
        """
        INSERT INTO freshet.access(kind, name, value, version)
        SELECT d.kind, d.name, d.value, s.access FROM unnest($1::text[], $2::text[], $3::bytea[]) AS d(kind, name, value)
        CROSS JOIN freshet.store s
        """)
}
#endif
