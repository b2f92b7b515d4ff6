#if PostgreSQL
internal import FreshetPlatform
internal import FreshetPostgreSQL
internal import FreshetServer
internal import Synchronization

/// Opens the connections of a store, and checks that each leads to the history of it that the others use.
final class StoreDatabase: Sendable {
    let label: String
    private let settings: ConnectionSettings
    /// `nil` leaves it to the servers, whose policy is not known here.
    private let failover: FailoverPolicy?
    private let random: @Sendable () -> UInt64
    /// The latest history that any connection has seen; `nil` before the first.
    private let latest = Mutex<StoreHistory?>(nil)

    /// The last failure to reach the database, and until when nobody tries again: each attempt may take seconds, and those who
    /// wait for one after another would hold up the server.
    private struct Outage {
        let error: PostgreSQLError
        let end: Deadline
    }

    private let outage = Mutex<Outage?>(nil)
    private static let outagePause = Duration.seconds(1)
    private let watches = Mutex<[HostWatch]>([])
    /// The host that had the latest history when the hosts were asked, by its place in the URI.
    private let latestHost = Atomic(0)
    private let opened = Atomic(0)
    private let failures = Atomic(0)

    /// How many connections were opened to the store, and how many could not be, for the metrics.
    var connectionCounts: (opened: Int, failures: Int) { (opened.load(ordering: .relaxed), failures.load(ordering: .relaxed)) }

    /// How long one exchange with the server may take.
    static let patience = Duration.seconds(10)

    init(_ settings: ConnectionSettings, failover: FailoverPolicy?, random: @escaping @Sendable () -> UInt64) {
        self.settings = settings
        self.failover = failover
        self.random = random
        label = settings.label
    }

    deinit { for watch in watches.withLock({ $0 }) { watch.stop() } }

    /// The history that the store's connections see; `nil` before the first.
    var history: StoreHistory? { latest.withLock { $0 } }

    /// Opens a connection, brings the schema up to date, and returns the store's identifier.
    ///
    /// - Parameter seed: random; a new store derives its epochs from it.
    func prepare(seed: UInt64) throws -> String {
        let (connection, place) = try connect()
        try checkTakenOver(connection, place)
        try Schema.migrate(connection, seed: seed, place: place, label: label)
        return try enter(connection, place)
    }

    /// Returns a warning if the database shows that the policy for failovers may lose writes.
    func failoverWarning() throws -> String? {
        guard failover == .keep else { return nil }
        let names = try open().run(.standbyNames, by: .patient)
        guard names.text(0, 0).isEmpty else { return nil }
        return "--failover keep relies on synchronous standbys, and 'synchronous_standby_names' is empty: a failover may lose "
            + "acknowledged writes without a new epoch. Set it, or leave --failover out"
    }

    /// Opens a connection to a store that is prepared.
    func open() throws -> sending Connection { try openConnection().connection }

    /// Opens a connection to a store that is prepared, and says where it leads.
    func openConnection() throws -> sending (connection: Connection, place: ServerPlace) {
        if let failure = outage.withLock({ $0 }), !failure.end.hasPassed { throw failure.error }
        do {
            let (connection, place) = try connect()
            _ = try enter(connection, place)
            opened.add(1, ordering: .relaxed)
            for watch in watches.withLock({ $0 }) { watch.opened() }
            return (connection, place)
        } catch let error as PostgreSQLError
            where [.unreachable, .timedOut, .tooManyConnections, .lockTimeout].contains(error.category)
        {
            outage.withLock { $0 = Outage(error: error, end: Deadline(after: Self.outagePause)) }
            failures.add(1, ordering: .relaxed)
            throw error
        }
    }

    /// Opens a connection to a store, and brings its schema up to date; `nil` if there is no store and no seed.
    ///
    /// - Parameter seed: random; makes a store that derives its epochs from it, if there is none.
    func openForCopy(making seed: UInt64?) throws -> sending Connection? {
        let (connection, place) = try connect()
        guard try schema(connection) > 0 || seed != nil else { return nil }
        try checkTakenOver(connection, place)
        try Schema.migrate(connection, seed: seed ?? 0, place: place, label: label)
        _ = try enter(connection, place)
        return connection
    }

    /// Looks at the database, and changes nothing.
    func inspect() throws -> PostgreSQLRecordStore.Inspection {
        let connection = try connect().0
        let found = try schema(connection)
        if found == 0, try !connection.run(.mayCreateSchema, by: .patient).bool(0, 0) {
            throw StoreError.unusable(
                path: label,
                reason: "there is no schema freshet, and the role may not create one. Run 'freshet store init' as a role that may, or "
                    + "GRANT CREATE ON DATABASE to this one")
        }
        return PostgreSQLRecordStore.Inspection(
            label: label, schema: found, latestSchema: Schema.version, serverVersion: connection.serverVersion,
            isEncrypted: connection.isEncrypted)
    }

    /// Counts what the store holds, and changes nothing; `nil` if it has no schema of this version.
    func totals() throws -> StoreTotals? {
        let connection = try connect().0
        guard try schema(connection) == Schema.version else { return nil }
        return try StoreTotals(connection.run(.totals, by: .patient))
    }

    private func schema(_ connection: Connection) throws -> Int64 {
        let found = try Schema.version(connection, by: .patient)
        guard found <= Schema.version else { throw StoreError.newerSchema(path: label, found: found, known: Schema.version) }
        return found
    }

    /// Opens a connection to the latest server that answers. libpq takes the first of the hosts that accepts writes, which may be a
    /// former primary.
    private func connect() throws -> (Connection, ServerPlace) {
        let first = try connect(settings)
        guard isFormer(first.1) else { return first }
        let hosts = settings.hosts
        // The one that is known to be later comes first: the others may not answer for seconds.
        let likely = latestHost.load(ordering: .relaxed)
        for host in [likely] + hosts.indices.filter({ $0 != likely }) {
            // The failure to report is that there is no later host, and not the failure of one of them.
            if let found = try? connect(hosts[host]), !isFormer(found.1) { return found }
        }
        throw PostgreSQLError(
            .unreachable, "another server of PostgreSQL has taken over, and the hosts that answer have an earlier state: \(first.1)")
    }

    private func isFormer(_ place: ServerPlace) -> Bool { history.map { $0.place.continues(place) } ?? false }

    private func connect(_ settings: ConnectionSettings) throws -> (Connection, ServerPlace) {
        let connection = try Connection(settings)
        let deadline = Deadline(after: Self.patience)
        guard connection.serverVersion >= 140_000 else {
            throw StoreError.unusable(
                path: label, reason: "PostgreSQL \(connection.serverVersion / 10_000) is too old: it takes 14 or newer")
        }
        try connection.execute(Self.settingsScript, by: deadline)
        let row = try connection.run(.serverState, by: deadline)
        guard row.count == 1, try !row.bool(0, 0) else {
            throw StoreError.unavailable(
                path: label, reason: "this server is a standby, which only reads. Name the primary, or all servers: host=a,b in the URI")
        }
        guard try row.bool(0, 1) else {
            throw StoreError.unusable(
                path: label, reason: "fsync or full_page_writes is off, so a crash would lose acknowledged writes. Turn both on")
        }
        guard row.text(0, 2) == "UTF8" else {
            throw StoreError.unusable(
                path: label,
                reason: "the database has the encoding \(row.text(0, 2)). Create one with: createdb --encoding UTF8 --template template0")
        }
        guard let place = ServerPlace(system: try row.int64(0, 3), logFile: row.text(0, 4)) else {
            throw StoreError.failed(path: label, reason: "the server does not say which timeline it writes (\(row.text(0, 4)))")
        }
        return (connection, place)
    }

    /// Checks that the connection leads to the latest history, and renews all epochs if the server has begun another one: after
    /// a failover, acknowledged writes may be missing, unless the policy says that none is. Every connection does so before it writes,
    /// so no write precedes it.
    ///
    /// The renewal waits for no standby, since reads need it too. A write that is acknowledged in the new epochs is later in the log,
    /// so a standby that has confirmed it has the renewal. A failover that undoes the renewal begins another timeline, and other epochs.
    private func enter(_ connection: Connection, _ place: ServerPlace) throws -> String {
        let deadline = Deadline(after: Self.patience)
        var row = try connection.run(.storeRow, by: deadline)
        guard row.count == 1 else { throw StoreError.corrupt(path: label, reason: "the table freshet.store is empty") }
        if try history(row) != place {
            _ = try connection.exchange([Request(.begin), Request(.waitForLocalDisk)], by: deadline)
            row = try connection.run(.lockStoreRow, by: deadline)
            let before = try history(row)
            if before != place {
                try checkTakenOver(place, after: before)
                let isKept = failover == .keep && place.continues(before)
                var parameters = Parameters()
                if !isKept { parameters.add(Int64(bitPattern: random())) }
                parameters.add(place.system)
                parameters.add(place.timeline)
                if !isKept { parameters.add(history?.ordinal ?? 0) }
                _ = try connection.run(isKept ? .keepToken : .renewToken, parameters, by: deadline)
            }
            _ = try connection.run(.commit, by: deadline)
            row = try connection.run(.storeRow, by: deadline)
        }
        try see(StoreHistory(place: place, ordinal: try row.int64(0, 3)))
        if try !row.bool(0, 4) {
            var parameters = Parameters()
            parameters.add(Int64(bitPattern: random()))
            _ = try connection.exchange([Request(.waitForLocalDisk), Request(.beginIncarnation, parameters)], by: deadline)
        }
        return row.text(0, 0)
    }

    /// Throws if the epochs depend on a policy that is not known here. Changes nothing, and reads any version of the schema.
    private func checkTakenOver(_ connection: Connection, _ place: ServerPlace) throws {
        guard failover == nil, try schema(connection) > 0 else { return }
        let row = try connection.run(.storePlace, by: .patient)
        guard row.count == 1 else { throw StoreError.corrupt(path: label, reason: "the table freshet.store is empty") }
        try checkTakenOver(place, after: ServerPlace(system: row.int64(0, 0), timeline: row.int64(0, 1)))
    }

    private func checkTakenOver(_ place: ServerPlace, after before: ServerPlace) throws {
        guard failover == nil, place.continues(before) else { return }
        throw StoreError.unusable(
            path: label,
            reason: "no Freshet server has taken over since the last failover of PostgreSQL, and only the servers know whether the epochs "
                + "stay (--failover). Start one first: freshet serve --store")
    }

    private func history(_ row: QueryResult) throws -> ServerPlace {
        ServerPlace(system: try row.int64(0, 1), timeline: try row.int64(0, 2))
    }

    // MARK: The other hosts

    /// How long a host has for its answer, once it has accepted a connection.
    private static let hostPatience = Duration.seconds(3)

    /// Has the hosts asked at regular intervals, and after each new connection, for as long as the store is used: each by a separate
    /// thread, since one that does not answer must not hold up the others.
    ///
    /// - Parameters:
    ///   - interval: in milliseconds, 1 or more.
    ///   - onTakeover: called by a thread that asks, when another server has taken over.
    func watchHosts(every interval: Int64, onTakeover: @escaping @Sendable () -> Void) throws {
        do throws(SystemFailure) {
            for host in settings.hosts.indices {
                let watch = try HostWatch(every: interval) { [weak self] in
                    if self?.check(host: host) == true { onTakeover() }
                }
                watches.withLock { $0.append(watch) }
                try watch.start()
            }
        } catch { throw StoreError.failed(path: label, reason: "no thread that asks the database's hosts: error \(error.code)") }
    }

    /// Asks a host, over a separate connection, which history it has. If it has a later timeline of the cluster, no connection to an
    /// earlier server is used again. A standby behind the present server has the same timeline, another cluster says nothing, and a host
    /// that cannot be asked has no say.
    ///
    /// - Parameter host: its place in the URI.
    /// - Returns: whether another server has taken over.
    func check(host: Int) -> Bool {
        guard let found = Self.place(of: settings.hosts[host]) else { return false }
        let isLater = latest.withLock { latest in
            guard let place = latest?.place, found.continues(place) else { return false }
            // How often its epochs were renewed, the first connection finds out.
            latest?.place = found
            return true
        }
        if isLater { latestHost.store(host, ordering: .relaxed) }
        return isLater
    }

    /// Asks all hosts, one after the other.
    func checkHosts() -> Bool { settings.hosts.indices.reduce(false) { check(host: $1) || $0 } }

    private static func place(of host: ConnectionSettings) -> ServerPlace? {
        guard let connection = try? Connection(host), let row = try? connection.run(.hostPlace, by: Deadline(after: hostPatience)),
            row.count == 1, let system = try? row.int64(0, 0)
        else { return nil }
        if let name = row.optionalText(0, 1) { return ServerPlace(system: system, logFile: name) }
        guard let timeline = try? row.optionalInt64(0, 2) else { return nil }
        return ServerPlace(system: system, timeline: timeline)
    }

    /// Takes note of the history that a connection sees.
    /// - Throws: ``StoreError/unavailable(path:reason:)`` if it is an earlier one.
    func see(_ seen: StoreHistory) throws {
        let isBehind = latest.withLock { latest in
            if let latest, seen.isBehind(latest) { return true }
            latest = seen
            return false
        }
        if isBehind {
            throw StoreError.unavailable(
                path: label, reason: "this server has an earlier state than one that was used before: it is no longer the primary")
        }
    }

    /// One statement, and no startup options, which poolers refuse. Every statement of the store is meant to use an index, also while
    /// the statistics of a new table are missing. Nothing runs for long, so nothing is compiled.
    private static let settingsScript: StaticString = """
        SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');
        SET search_path = ''; SET client_min_messages = warning; SET jit = off; SET enable_seqscan = off;
        SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0;
        SET statement_timeout = '8s'; SET lock_timeout = '3s'; SET idle_in_transaction_session_timeout = '5s';
        """
}
#endif
