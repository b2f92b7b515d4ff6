#if PostgreSQL
import Dispatch
import FreshetPostgreSQL
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetPostgreSQLStore

/// Ends connections in the middle of transactions: nothing that was acknowledged is lost, and nothing is applied twice.
@Suite("Connections to PostgreSQL that end", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct LostConnectionTests {
    private let namespace: Namespace

    init() throws { namespace = try Namespace("shop") }

    private static let terminate = Statement("terminate", "SELECT pg_terminate_backend($1::bigint::integer)")
    private static let deadline = Duration.seconds(20)

    /// Ends a process of the server, and returns once it has ended.
    private static func end(_ process: Int, _ uri: String) {
        guard let connection = try? Connection(ConnectionSettings(uri: uri)) else { return }
        var parameters = Parameters()
        parameters.add(Int64(process))
        _ = try? connection.run(terminate, parameters, by: Deadline(after: deadline))
    }

    private func store(_ uri: String, onStep: @escaping @Sendable (TransactionStep) -> Void) throws -> PostgreSQLRecordStore {
        var configuration = PostgreSQLRecordStore.Configuration()
        configuration.lanes = 1
        configuration.onStep = onStep
        let numbers = Mutex<UInt64>(7)
        return try PostgreSQLRecordStore(uri: uri, configuration: configuration) {
            numbers.withLock { number in
                number += 1
                return number
            }
        }
    }

    @Test(arguments: [false, true])
    func aConnectionThatEndsBeforeTheCommitChangesNothing(_ isLate: Bool) throws {
        // Given
        let database = try PostgreSQLDatabase()
        let uri = database.uri
        let ended = Mutex(0)
        let asked = Mutex(0)
        let store = try store(uri) { step in
            switch step {
            case .loaded(let process) where !isLate, .committing(let process) where isLate:
                if ended.withLock({ count in
                    count += 1; return count == 2
                }) {
                    Self.end(process, uri)
                }
            case .asking: asked.withLock { $0 += 1 }
            default: break
            }
        }
        // When
        let revisions = try (1...3).map { _ in try store.increment("a/1", in: namespace) }
        // Then
        #expect(revisions == [Revision(1), Revision(2), Revision(3)])
        #expect(try store.record(RecordKey("a/1"), in: namespace).value?.content?.bytes == Array("3".utf8))
        // Both ends are noticed when the commit is sent, so its outcome was asked for, and the transaction ran again.
        #expect(ended.withLock { $0 } == 4 && asked.withLock { $0 } == 1)
    }

    @Test func aReadOverAnEndedConnectionOpensAnother() throws {
        // Given
        let database = try PostgreSQLDatabase()
        let store = try store(database.uri) { _ in }
        _ = try store.increment("a/1", in: namespace)
        let before = try store.state(of: namespace)
        // When
        try database.cluster.query(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(database.name)' AND pid <> pg_backend_pid()",
            in: database.name)
        // Then
        #expect(try store.state(of: namespace) == before)
        #expect(try store.increment("a/1", in: namespace) == Revision(2))
    }

    /// Connections end at random while several threads write: at the end, the counter is as high as increments were acknowledged.
    @Test func everyAcknowledgedIncrementIsCountedOnce() throws {
        // Given
        let database = try PostgreSQLDatabase()
        let uri = database.uri
        let processes = Mutex<Set<Int>>([])
        var configuration = PostgreSQLRecordStore.Configuration()
        configuration.lanes = 3
        configuration.onStep = { step in
            if case .loaded(let process) = step { processes.withLock { _ = $0.insert(process) } }
        }
        let store = try PostgreSQLRecordStore(uri: uri, configuration: configuration) { 7 }
        let acknowledged = Mutex(0)
        let refused = Mutex(0)
        let unknown = Mutex(0)
        let running = Mutex(3)
        let namespace = namespace
        // When
        DispatchQueue.concurrentPerform(iterations: 4) { place in
            guard place > 0 else {
                // Until the writers are done. Each end takes a connection, so the writers come to something in between.
                while running.withLock({ $0 > 0 }) {
                    if let process = processes.withLock({ $0.popFirst() }) { Self.end(process, uri) }
                }
                return
            }
            for _ in 1...60 {
                do {
                    _ = try store.increment("a/1", in: namespace)
                    acknowledged.withLock { $0 += 1 }
                } catch StoreError.outcomeUnknown {
                    unknown.withLock { $0 += 1 }
                } catch { refused.withLock { $0 += 1 } }
            }
            running.withLock { $0 -= 1 }
        }
        // Then
        let bytes = try store.record(RecordKey("a/1"), in: namespace).value?.content?.bytes ?? []
        #expect(String(decoding: bytes, as: UTF8.self) == String(acknowledged.withLock { $0 }))
        #expect(try store.state(of: namespace).head == Revision(Int64(acknowledged.withLock { $0 })))
        #expect(unknown.withLock { $0 } == 0 && acknowledged.withLock { $0 } > 20, "refused: \(refused.withLock { $0 })")
    }

    /// PostgreSQL gives the number of a transaction again that a crash has undone before anything of it was on disk.
    @Test func aTransactionWhoseNumberAnotherHasAfterACrashIsNotTakenForCommitted() throws {
        // Given a transaction of which nothing is on disk yet
        let cluster = try PostgreSQLCluster(settings: ["wal_writer_delay = 10s", "autovacuum = off"])
        let uri = cluster.uri("postgres")
        let others = Mutex(0)
        let transactions = Mutex(0)
        let namespace = namespace
        let other = try store(uri) { _ in }
        let store = try store(uri) { step in
            guard case .committing = step,
                transactions.withLock({ count in
                    count += 1; return count == 2
                })
            else { return }
            // When PostgreSQL crashes before the commit, and the next transactions are those of another server
            try? cluster.crash()
            for _ in 1...3 where (try? other.increment("a/1", in: namespace)) != nil { others.withLock { $0 += 1 } }
        }
        _ = try store.increment("a/1", in: namespace)
        // Then its outcome is unknown, or it was run again; it is not called committed
        do {
            #expect(try store.increment("a/1", in: namespace) == Revision(Int64(others.withLock { $0 } + 2)))
        } catch StoreError.outcomeUnknown {
            #expect(try store.state(of: namespace).head == Revision(Int64(others.withLock { $0 } + 1)))
        }
        #expect(others.withLock { $0 } == 3)
    }

    @Test("A transaction that runs when PostgreSQL crashes, and whose number is not given again meanwhile, runs again at once")
    func crashBeforeTheDisk() throws {
        // Given numbers of which nothing is on disk yet
        let cluster = try PostgreSQLCluster(settings: ["wal_writer_delay = 10s", "autovacuum = off"])
        let uri = cluster.uri("postgres")
        let transactions = Mutex(0)
        let asked = Mutex(0)
        let store = try store(uri) { step in
            switch step {
            case .committing:
                let isSecond = transactions.withLock { count in
                    count += 1
                    return count == 2
                }
                if isSecond { try? cluster.crash() }
            case .asking: asked.withLock { $0 += 1 }
            default: break
            }
        }
        _ = try store.increment("a/1", in: namespace)
        let other = try Connection(ConnectionSettings(uri: uri))
        for _ in 1...10 { try other.execute("BEGIN; SELECT pg_current_xact_id(); ROLLBACK", by: Deadline(after: Self.deadline)) }
        // When PostgreSQL crashes before the commit
        let revision = try store.increment("a/1", in: namespace)
        // Then
        #expect(revision == Revision(2) && asked.withLock { $0 } == 1)
    }

    @Test("A commit that no standby has confirmed is not acknowledged, however many notices come before that one")
    func manyNotices() async throws {
        // Given a session that sends twenty warnings with each write
        let cluster = try PostgreSQLCluster()
        let store = try store(cluster.uri("postgres")) { _ in }
        _ = try store.increment("a/1", in: namespace)
        for statement in [
            """
            CREATE FUNCTION public.warn() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN FOR i IN 1..20 LOOP RAISE WARNING 'number %', i; END LOOP; RETURN NULL; END$$
            """,
            "CREATE TRIGGER warn AFTER UPDATE ON freshet.namespace FOR EACH STATEMENT EXECUTE FUNCTION public.warn()",
            "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()",
        ] { try cluster.query(statement) }
        cluster.waitForStandbyDemand { _ = try store.increment("a/0", in: namespace) }
        // When somebody ends the wait for the standby
        let result = cluster.endingWaits(by: "pg_cancel_backend") { try store.increment("a/1", in: namespace) }
        // Then
        guard case .outcomeUnknown? = #expect(throws: StoreError.self, performing: { try result.get() }) else {
            throw Unexpected(what: "\(result)")
        }
    }

    @Test("A connection that did not answer in time is closed, so that it holds nothing") func silentConnection() throws {
        // Given a read whose answer comes too late
        let database = try PostgreSQLDatabase()
        let store = try store(database.uri) { _ in }
        _ = try store.increment("a/1", in: namespace)
        let process = Mutex(0)
        // When
        #expect(throws: StoreError.self) {
            _ = try store.read { connection in
                process.withLock { $0 = connection.process }
                try connection.execute("BEGIN; LOCK TABLE freshet.access IN ACCESS SHARE MODE", by: Deadline(after: Self.deadline))
                _ = try connection.run(Statement("sleep", "SELECT pg_sleep(1)::text"), by: Deadline(after: .milliseconds(1)))
            }
        }
        // Then its session ends, without another call of the store
        let query = "SELECT count(*) FROM pg_stat_activity WHERE pid = \(process.withLock { $0 })"
        let deadline = Deadline(after: Self.deadline)
        while try database.cluster.query(query) != "0" { #expect(!deadline.hasPassed) }
    }

    /// A standby that never confirms holds up each commit, so that its connection can be ended while it waits.
    @Test(arguments: [true, false])
    func aCommitThatWaitsForAStandbyIsAskedFor(_ ends: Bool) async throws {
        // Given
        let cluster = try PostgreSQLCluster()
        let store = try store(cluster.uri("postgres")) { _ in }
        _ = try store.increment("a/1", in: namespace)
        try cluster.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try cluster.query("SELECT pg_reload_conf()")
        cluster.waitForStandbyDemand { _ = try store.increment("a/0", in: namespace) }
        // When
        let result = cluster.endingWaits(by: ends ? "pg_terminate_backend" : "pg_cancel_backend") {
            try store.increment("a/1", in: namespace)
        }
        // Then
        try cluster.query("ALTER SYSTEM RESET synchronous_standby_names")
        try cluster.query("SELECT pg_reload_conf()")
        #expect(try store.record(RecordKey("a/1"), in: namespace).value?.content?.bytes == Array("2".utf8))
        // It is committed, and no standby has confirmed it, so a failover could lose it.
        guard case .outcomeUnknown? = #expect(throws: StoreError.self, performing: { try result.get() }) else {
            throw Unexpected(what: "\(result)")
        }
    }
}

extension PostgreSQLCluster {
    /// Commits until a commit waits for a standby: a setting that was read again takes effect some time later.
    func waitForStandbyDemand(_ commit: () throws -> Void) {
        while case .success = endingWaits(by: "pg_cancel_backend", commit) {}
    }

    /// Runs the closure, and meanwhile calls a function of PostgreSQL for each process that waits for a standby.
    func endingWaits<Value>(by function: String, _ body: () throws -> Value) -> Result<Value, any Error> {
        let ended = DispatchGroup()
        let isDone = Mutex(false)
        DispatchQueue(label: "test.waiter").async(group: ended) {
            while !isDone.withLock({ $0 }) {
                _ = try? self.query("SELECT count(\(function)(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            }
        }
        let result = Result { try body() }
        isDone.withLock { $0 = true }
        ended.wait()
        return result
    }
}
#endif
