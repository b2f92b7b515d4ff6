#if PostgreSQL
import Dispatch
import FreshetPostgreSQL
import FreshetPostgreSQLStore
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

/// The store's row says that it was last written elsewhere, as after a failover.
@Suite("A failover of PostgreSQL", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct FailoverTests {
    private let namespace: Namespace

    init() throws { namespace = try Namespace("shop") }

    private static var deadline: Deadline { Deadline(after: .seconds(20)) }

    /// How many statements wait for a lock.
    private static let waiting = Statement(
        "waiting",
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1::text
        """)
    private static let namespaceLock = "%freshet.namespace%FOR UPDATE"
    private static let storeLock = "%freshet.store FOR UPDATE"

    private static func waiting(for lock: String, over connection: Connection) throws -> Int64 {
        var parameters = Parameters()
        parameters.add(lock)
        return try connection.run(waiting, parameters, by: deadline).int64(0, 0)
    }

    private static func wait(for lock: String, over connection: Connection) throws {
        let deadline = deadline
        while try waiting(for: lock, over: connection) == 0 {
            guard !deadline.hasPassed else { throw Unexpected(what: "nothing waits for \(lock)") }
        }
    }

    /// Puts a record, and returns the position after it.
    private static func put(in namespace: Namespace, of store: PostgreSQLRecordStore) throws -> Cursor? {
        let recorder = CompletionRecorder<SingleReceipt>()
        let write = SingleWrite(key: try RecordKey("a/1"), operation: .put(json: "2"))
        try GroupCommit.commit(
            [.single(write, in: namespace, then: recorder.record)], to: store, at: WriteTime(milliseconds: 1_000), editLimit: 1_000
        ).complete()
        return try recorder.once().cursor
    }

    /// As through a pooler, which leads open connections to the new primary.
    @Test("A transaction that reads the epochs before another connection renews them does not commit in the old ones")
    func renewalDuringATransaction() throws {
        // Given two connections for writes, of which one waits for a namespace
        let database = try PostgreSQLDatabase()
        var configuration = PostgreSQLRecordStore.Configuration()
        configuration.lanes = 2
        let store = try PostgreSQLRecordStore(uri: database.uri, configuration: configuration) { 7 }
        let (shop, other) = (namespace, try Namespace("other"))
        for name in [shop, other] { _ = try store.put("a/1", in: name) }
        let old = try store.state(of: shop).epoch
        try store.transaction(touching: { TransactionScope() }) { _ in
            try store.transaction(touching: { TransactionScope() }) { _ in }
        }
        let settings = try ConnectionSettings(uri: database.uri)
        let (holder, second, watcher) = (try Connection(settings), try Connection(settings), try Connection(settings))
        try holder.execute("BEGIN; SELECT FROM freshet.namespace WHERE name = 'shop' FOR UPDATE", by: Self.deadline)
        let position = Mutex<Cursor?>(nil)
        let (late, both) = (DispatchGroup(), DispatchGroup())
        DispatchQueue(label: "test.late").async(group: late) {
            do {
                let cursor = try Self.put(in: shop, of: store)
                position.withLock { $0 = cursor }
            } catch { Issue.record(error) }
        }
        try Self.wait(for: Self.namespaceLock, over: watcher)
        // When another server has taken over, and the other connection is about to renew the epochs
        try second.execute("UPDATE freshet.store SET system = system + 1", by: Self.deadline)
        try second.execute("BEGIN; SELECT FROM freshet.store FOR UPDATE", by: Self.deadline)
        DispatchQueue(label: "test.early").async(group: both) {
            do { _ = try Self.put(in: other, of: store) } catch { Issue.record(error) }
        }
        try Self.wait(for: Self.storeLock, over: watcher)
        // And the first one gets the namespace, and commits or waits for the renewal
        try holder.execute("COMMIT", by: Self.deadline)
        while late.wait(timeout: .now()) == .timedOut, try Self.waiting(for: Self.storeLock, over: watcher) < 2 {}
        try second.execute("COMMIT", by: Self.deadline)
        late.wait()
        both.wait()
        // Then
        let new = try store.state(of: shop).epoch
        #expect(new != old && position.withLock { $0 } == Cursor(epoch: new, revision: Revision(2) ?? .zero))
    }

    @Test("While a synchronous standby is away epochs are renewed and the probe is answered; transactions that do more wait")
    func standbyAway() throws {
        // Given
        let cluster = try PostgreSQLCluster()
        let uri = cluster.uri("postgres")
        let namespace = namespace
        let first = try PostgreSQLRecordStore(uri: uri) { 7 }
        _ = try first.put("a/1", in: namespace)
        let epoch = try first.state(of: namespace).epoch
        try cluster.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try cluster.query("SELECT pg_reload_conf()")
        // The setting takes effect some time later.
        while case .success = cluster.endingWaits(by: "pg_cancel_backend", { try first.put("a/1", in: namespace) }) {}
        // When
        try cluster.query("SET synchronous_commit = local; UPDATE freshet.store SET timeline = timeline - 1")
        let second = try PostgreSQLRecordStore(uri: uri) { 99 }
        // Then
        #expect(try second.state(of: namespace).epoch != epoch)
        try StoreFixture(over: second).commit { .probe(then: $0) }.result.get()
        let result = cluster.endingWaits(by: "pg_cancel_backend") {
            try second.transaction(touching: { TransactionScope(namespaces: [namespace]) }) { transaction in
                try transaction.touch()
                return try transaction.namespace(namespace).outline(RecordKey("a/1"))?.revision
            }
        }
        guard case .outcomeUnknown? = #expect(throws: StoreError.self, performing: { try result.get() }) else {
            throw Unexpected(what: "\(result)")
        }
    }

    @Test("After a failover that undoes the renewal of the one before, keys and revocations have a version that no server has seen")
    func lostRenewal() throws {
        // Given
        let database = try PostgreSQLDatabase()
        func open(seed: UInt64) throws -> PostgreSQLRecordStore { try PostgreSQLRecordStore(uri: database.uri) { seed } }
        _ = try open(seed: 7)
        try database.cluster.query("UPDATE freshet.store SET timeline = timeline - 1", in: database.name)
        let first = try open(seed: 8)
        for name in ["token:a", "token:b"] { try first.transaction { try $0.keep(AccessRow(.revocation, name: name, value: [])) } }
        let seen = try first.accessVersion()
        #expect(seen.number == 2)
        // When
        try database.cluster.query("UPDATE freshet.store SET timeline = timeline - 1, ordinal = 0, access = 1", in: database.name)
        let second = try open(seed: 9)
        // Then
        let changes = try second.accessChanges(after: seen)
        #expect(changes.base == nil && changes.version.history > seen.history)
    }

    @Test("A server that renews the epochs goes on, also where the clock of PostgreSQL is behind")
    func clockBehind() throws {
        // Given a history of the future
        let database = try PostgreSQLDatabase()
        let store = try PostgreSQLRecordStore(uri: database.uri) { 7 }
        let future: Int64 = 9_000_000_000_000
        try database.cluster.query("UPDATE freshet.store SET ordinal = \(future)", in: database.name)
        _ = try store.put("a/1", in: namespace)
        // When another server takes over that has nothing of it
        try database.cluster.query(
            """
            UPDATE freshet.store SET timeline = timeline - 1, ordinal = 0;
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)' AND pid <> pg_backend_pid()
            """, in: database.name)
        // Then
        #expect(try store.put("a/1", in: namespace) == Revision(2))
        #expect(try store.accessVersion().history == future + 1)
    }
}
#endif
