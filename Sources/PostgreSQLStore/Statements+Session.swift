#if PostgreSQL
internal import FreshetPostgreSQL

// Transactions, the server and the schema.
extension Statement {
    static let begin = Statement("begin", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    static let beginSnapshot = Statement("begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let commit = Statement("commit", "COMMIT")
    static let rollback = Statement("rollback", "ROLLBACK")

    /// The settings of a server that the store depends on, and where the server writes.
    static let serverState = Statement(
        "server_state",
        """
        SELECT pg_is_in_recovery(), current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on',
            current_setting('server_encoding'),
            CASE WHEN NOT pg_is_in_recovery() THEN (SELECT system_identifier FROM pg_control_system()) END,
            CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END
        """)

    /// The cluster, and the timeline of a server that writes or, of a standby, the one of its control file, which may be behind by a
    /// checkpoint.
    static let hostPlace = Statement(
        "host_place",
        """
        SELECT (SELECT system_identifier FROM pg_control_system()),
            CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END,
            CASE WHEN pg_is_in_recovery() THEN greatest(
                (SELECT timeline_id FROM pg_control_checkpoint()), (SELECT min_recovery_end_timeline FROM pg_control_recovery()))::bigint
            END
        """)

    /// A step of the schema may take long, and another server may be taking it.
    static let schemaSettings = Statement(
        "schema_settings", "SELECT set_config('statement_timeout', '600s', true), set_config('lock_timeout', '600s', true)")

    /// Any number that other programs in the database do not use: "freshet" in ASCII.
    static let lockSchema = Statement("lock_schema", "SELECT pg_advisory_xact_lock(28834966186648948)")
    static let hasSchema = Statement("has_schema", "SELECT to_regclass('freshet.store') IS NOT NULL")
    static let mayCreateSchema = Statement(
        "may_create_schema", "SELECT has_database_privilege(current_database(), 'CREATE')")
    static let version = Statement("version", "SELECT schema FROM freshet.store")
    static let setVersion = Statement("set_version", "UPDATE freshet.store SET schema = $1::bigint")
    static let fillStore = Statement(
        "fill_store",
        """
        INSERT INTO freshet.store(schema, identifier, seed, system, timeline, ordinal, token)
        VALUES (0, $1::text, $2::bigint, $3::bigint, $4::bigint, 0, 0)
        """)
    static let fillGenerations = Statement(
        "fill_generations", "INSERT INTO freshet.generation(bucket, value) SELECT bucket, 0 FROM generate_series(0, 4095) AS bucket")

    /// Held by every write transaction, from its start to its end; those that change access rows hold the other one. So no
    /// transaction is decided by rows that have changed when it is committed. Neither keeps anyone from reading the rows.
    static let shareAccess = Statement("share_access", "LOCK TABLE freshet.access IN ROW SHARE MODE")
    static let lockAccess = Statement("lock_access", "LOCK TABLE freshet.access IN EXCLUSIVE MODE")

    /// Has the transaction's commit wait for the disk, and warn if no standby has confirmed it. A pooler may have lent a connection
    /// whose settings are those of another program.
    static let waitForDisk = Statement(
        "wait_for_disk",
        """
        SELECT set_config('client_min_messages', 'warning', true),
            CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
                THEN set_config('synchronous_commit', 'on', true) END
        """)

    /// Has the transaction's commit wait for the server's disk, and for no standby. Only for a transaction that acknowledges nothing.
    static let waitForLocalDisk = Statement("wait_for_local_disk", "SELECT set_config('synchronous_commit', 'local', true)")

    /// A lost notification is no lost change, so nothing waits for the disk. The setting ends with the transaction: a pooler may lend
    /// the connection to another one next.
    static let notify = Statement("notify", "SELECT pg_notify('freshet', $1::text), set_config('synchronous_commit', 'off', true)")

    /// The age in seconds of the oldest transaction that has a snapshot, apart from this one. Those of other roles are seen by members of
    /// `pg_read_all_stats` alone.
    static let oldestTransaction = Statement(
        "oldest_transaction",
        """
        SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint
        FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
        """)

    /// The number of the process that runs the statement.
    static let backend = Statement("backend", "SELECT pg_backend_pid()")

    static let storeRow = Statement(
        "store_row", "SELECT identifier, system, timeline, ordinal, EXISTS (SELECT FROM freshet.incarnation) FROM freshet.store")
    /// The columns are in every version of the schema.
    static let storePlace = Statement("store_place", "SELECT system, timeline FROM freshet.store")
    /// Done by the first connection after a crash. Others may do so at the same time.
    static let beginIncarnation = Statement(
        "begin_incarnation", "INSERT INTO freshet.incarnation(token) VALUES ($1::bigint) ON CONFLICT DO NOTHING")
    static let lockStoreRow = Statement("lock_store_row", "SELECT identifier, system, timeline, ordinal FROM freshet.store FOR UPDATE")
    /// A later timeline of the same cluster begins with a part of the earlier one. Of another cluster nothing is known. The ordinal is
    /// above $4, and that of no renewal which a failover has undone: it has the time.
    static let renewToken = Statement(
        "renew_token",
        """
        UPDATE freshet.store SET token = $1::bigint, system = $2::bigint, timeline = $3::bigint,
            ordinal = greatest(ordinal + 1, $4::bigint + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
            continued = CASE WHEN system = $2::bigint AND timeline < $3::bigint THEN token END, continuing = $1::bigint
        """)

    /// Notes the later timeline of the same cluster, and leaves the epochs as they are.
    static let keepToken = Statement("keep_token", "UPDATE freshet.store SET system = $1::bigint, timeline = $2::bigint")
    static let standbyNames = Statement("standby_names", "SELECT current_setting('synchronous_standby_names')")

    /// Whether a transaction was committed: `committed`, `aborted`, `in progress`, or NULL if it is too old to say; the token of the
    /// incarnation; and the history. After a crash PostgreSQL gives the numbers again that no record on its disk names, so `committed`
    /// may be said of another transaction if the token is not $2 any more. `aborted` is true of both: a number on disk is not given again.
    ///
    /// Recovery goes on above all numbers on disk. So after a crash a number from the end of the snapshot on is not on disk: the
    /// transaction is aborted, where `pg_xact_status` would fail with 22023 or speak of another one.
    static let transactionStatus = Statement(
        "transaction_status",
        """
        SELECT CASE WHEN (SELECT token::text FROM freshet.incarnation) <> $2::text
                AND $1::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) THEN 'aborted'
            ELSE pg_xact_status($1::text::xid8) END,
            (SELECT token::text FROM freshet.incarnation), system, ordinal,
            substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
        FROM freshet.store
        """)
}
#endif
