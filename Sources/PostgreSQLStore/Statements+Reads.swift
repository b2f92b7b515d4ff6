#if PostgreSQL
internal import FreshetPostgreSQL

// Reads. Each is one statement, so that the answer and its position are of one snapshot. The first columns are those of
// NamespaceRow. A row that depends on the namespace's is a subquery with LIMIT, as in the statements that write.
extension Statement {
    static let state = Statement(
        "state",
        """
        SELECT s.seed, s.token, g.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes,
            n.tombstones, n.invalidations, n.clients, n.outcomes, n.outcome_bytes
        FROM freshet.store s LEFT JOIN freshet.generation g ON g.bucket = $2::integer
        LEFT JOIN freshet.namespace n ON n.name = $1::text
        """)

    static let client = Statement(
        "client",
        """
        SELECT s.seed, s.token, g.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes, c.last, c.owner
        FROM freshet.store s LEFT JOIN freshet.generation g ON g.bucket = $2::integer
        LEFT JOIN freshet.namespace n ON n.name = $1::text
        LEFT JOIN LATERAL (SELECT last, owner FROM freshet.client c WHERE c.namespace = n.id AND c.client = $3::text LIMIT 1) c ON true
        """)

    static let record = Statement(
        "record",
        """
        SELECT s.seed, s.token, g.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes, c.last,
            r.revision, r.modified, r.content_type, octet_length(r.value), CASE WHEN octet_length(r.value) <= $6::bigint THEN r.value END
        FROM freshet.store s LEFT JOIN freshet.generation g ON g.bucket = $2::integer
        LEFT JOIN freshet.namespace n ON n.name = $1::text
        LEFT JOIN LATERAL (SELECT last FROM freshet.client c WHERE c.namespace = n.id AND c.client = $3::text LIMIT 1) c ON true
        LEFT JOIN LATERAL (
            SELECT * FROM freshet.record r WHERE r.namespace = n.id AND r.collection = $4::text AND r.id = $5::text LIMIT 1
        ) r ON true
        """)

    /// First the namespace, then the rows of a collection, whose values come up to $8 bytes in all, but the first in any case.
    static let list = Statement(
        "list",
        """
        WITH n AS MATERIALIZED (
            SELECT s.seed, s.token, g.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes
            FROM freshet.store s LEFT JOIN freshet.generation g ON g.bucket = $2::integer
            LEFT JOIN freshet.namespace n ON n.name = $1::text
        )
        SELECT n.seed, n.token, n.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes,
            NULL::text, NULL::bigint, NULL::bigint, NULL::text, NULL::integer, NULL::bytea
        FROM n
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.id, r.revision, r.modified, r.content_type, r.size,
            CASE WHEN r.before = 0 OR r.before + r.size <= $8::bigint THEN r.bytes END
        FROM (
            SELECT r.id, r.revision, r.modified, r.content_type, r.bytes, r.size,
                coalesce(sum(r.size) OVER (ORDER BY r.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
            FROM (
                SELECT r.id, r.revision, r.modified, r.content_type, r.value AS bytes, octet_length(r.value) AS size
                FROM freshet.record r
                WHERE r.namespace = (SELECT id FROM n) AND r.collection = $3::text AND r.id >= $4::text AND r.id < $5::text AND r.id > $6::text
                ORDER BY r.id LIMIT $7::bigint
            ) r
        ) r
        """)

    /// First the namespace with the last write of a client, then those of the keys that have a row, with their places. Values
    /// that the client has are left out, and so are those above $7 bytes, and those beyond $8 bytes in all, but not the first.
    static let records = Statement(
        "records",
        """
        WITH n AS MATERIALIZED (
            SELECT s.seed, s.token, g.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes, c.last
            FROM freshet.store s LEFT JOIN freshet.generation g ON g.bucket = $2::integer
            LEFT JOIN freshet.namespace n ON n.name = $1::text
            LEFT JOIN LATERAL (SELECT last FROM freshet.client c WHERE c.namespace = n.id AND c.client = $3::text LIMIT 1) c ON true
        )
        SELECT n.seed, n.token, n.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes, n.last,
            NULL::bigint, NULL::bigint, NULL::bigint, NULL::text, NULL::integer, NULL::bytea
        FROM n
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            r.place, r.revision, r.modified, r.content_type, r.size,
            CASE WHEN r.wanted > 0 AND (r.before = 0 OR r.before + r.wanted <= $8::bigint) OR r.size = 0 THEN r.bytes END
        FROM (
            SELECT r.place, r.revision, r.modified, r.content_type, r.bytes, r.size, r.wanted,
                coalesce(sum(r.wanted) OVER (ORDER BY r.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
            FROM (
                SELECT d.place, r.revision, r.modified, r.content_type, r.value AS bytes, octet_length(r.value) AS size,
                    CASE WHEN r.revision IS DISTINCT FROM d.revision AND octet_length(r.value) <= $7::bigint THEN octet_length(r.value) ELSE 0 END
                        AS wanted
                FROM unnest($4::text[], $5::text[], $6::bigint[]) WITH ORDINALITY AS d(collection, id, revision, place)
                CROSS JOIN LATERAL (
                    SELECT * FROM freshet.record r
                    WHERE r.namespace = (SELECT id FROM n) AND r.collection = d.collection AND r.id = d.id LIMIT 1
                ) r
            ) r
        ) r
        """)

    /// First the namespace with the last write of a client, then at most $5 rows of records (kind 3) and invalidations after $4, in the
    /// order of their revisions. Values come only if the filter matches, up to $6 bytes each and $7 in all, but the first in any case.
    static let changes = Statement(
        "changes",
        """
        WITH n AS MATERIALIZED (
            SELECT s.seed, s.token, g.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes, c.last
            FROM freshet.store s LEFT JOIN freshet.generation g ON g.bucket = $2::integer
            LEFT JOIN freshet.namespace n ON n.name = $1::text
            LEFT JOIN LATERAL (SELECT last FROM freshet.client c WHERE c.namespace = n.id AND c.client = $3::text LIMIT 1) c ON true
        )
        SELECT n.seed, n.token, n.value, n.id, n.base, n.head, n.forgotten, n.records, n.bytes, n.last,
            NULL::smallint, NULL::bigint, NULL::bigint, NULL::text, NULL::integer, NULL::bytea,
            NULL::text, NULL::text, NULL::text, NULL::bigint
        FROM n
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            r.kind, r.revision, r.modified, r.content_type, r.size,
            CASE WHEN r.wanted > 0 AND (r.before = 0 OR r.before + r.wanted <= $7::bigint) OR r.size = 0 AND $6::bigint >= 0 THEN r.bytes END,
            r.collection, r.name, r.client, r.write
        FROM (
            SELECT r.kind, r.revision, r.modified, r.content_type, r.size, r.bytes, r.collection, r.name, r.client, r.write, r.wanted,
                coalesce(sum(r.wanted) OVER (ORDER BY r.revision ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
            FROM (
                SELECT r.kind, r.revision, r.modified, r.content_type, r.size, r.bytes, r.collection, r.name, r.client, r.write,
                    CASE WHEN r.size <= $6::bigint AND (cardinality($8::text[]) = 0 OR r.collection = ANY ($8::text[]))
                        AND starts_with(r.name, $9::text) THEN r.size ELSE 0 END AS wanted
                FROM (
                    (SELECT 3::smallint AS kind, r.revision, r.modified, r.content_type, octet_length(r.value) AS size, r.value AS bytes,
                        r.collection, r.id AS name, r.client, r.write
                    FROM freshet.record r WHERE r.namespace = (SELECT id FROM n) AND r.revision > 0 AND r.revision > $4::bigint
                    ORDER BY r.revision LIMIT $5::bigint)
                    UNION ALL
                    (SELECT v.kind, v.revision, v.modified, NULL, NULL, NULL, v.collection, v.name, NULL, NULL
                    FROM freshet.invalidation v WHERE v.namespace = (SELECT id FROM n) AND v.revision > 0 AND v.revision > $4::bigint
                    ORDER BY v.revision LIMIT $5::bigint)
                    ORDER BY revision LIMIT $5::bigint
                ) r
            ) r
        ) r
        """)

    /// Where the present history of a namespace leaves the one before; no row if nothing is known of it.
    static let lineage = Statement(
        "lineage",
        """
        SELECT s.seed, s.token, s.continued, CASE WHEN n.token = s.token THEN n.fork ELSE n.head END
        FROM freshet.store s LEFT JOIN freshet.namespace n ON n.name = $1::text
        WHERE s.continuing = s.token AND s.continued IS NOT NULL
        """)

    static let namespaces = Statement(
        "namespaces", "SELECT name FROM freshet.namespace WHERE name >= $1::text AND name < $2::text ORDER BY name LIMIT $3::bigint")

    static let totals = Statement(
        "totals",
        """
        SELECT count(*), coalesce(sum(records), 0)::bigint, coalesce(sum(bytes), 0)::bigint, coalesce(sum(tombstones), 0)::bigint,
            coalesce(sum(invalidations), 0)::bigint, coalesce(sum(clients), 0)::bigint, coalesce(sum(outcomes), 0)::bigint,
            coalesce(sum(outcome_bytes), 0)::bigint
        FROM freshet.namespace
        """)

    static let accessVersion = Statement("access_version", "SELECT ordinal, access FROM freshet.store")

    /// The rows that were changed after the version $2 of the history $1, a removed one without a value. All rows there are, if
    /// that is another history, or if the store may have forgotten removals since: those before the latest $3 versions.
    static let accessChanges = Statement(
        "access_changes",
        """
        WITH s AS MATERIALIZED (
            SELECT ordinal, access,
                coalesce(ordinal = $1::bigint AND access >= $2::bigint AND access - $2::bigint <= $3::bigint, false) AS known
            FROM freshet.store
        )
        SELECT s.ordinal, s.access, s.known, a.kind, a.name, a.value
        FROM s LEFT JOIN LATERAL (
            SELECT kind, name, value FROM freshet.access WHERE s.known AND version > $2::bigint
            UNION ALL
            SELECT kind, name, value FROM freshet.access WHERE NOT s.known AND value IS NOT NULL
        ) a ON true
        ORDER BY a.kind, a.name
        """)
}
#endif
