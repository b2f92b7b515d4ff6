#if PostgreSQL
import Dispatch
import FreshetPostgreSQL
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetPostgreSQLStore

/// A standby is promoted, and the former primary goes on, with all connections of the server: a partition that has healed, a
/// manager that does not fence.
@Suite(
    "A takeover that no connection notices", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct TakeoverTests {
    private let namespace: Namespace
    private let key: RecordKey

    init() throws {
        namespace = try Namespace("shop")
        key = try RecordKey("a/1")
    }

    /// A primary, its standby, and a URI that names both.
    private struct Pair {
        let former: PostgreSQLCluster
        let later: PostgreSQLCluster
        let uri: String

        init() throws {
            former = try PostgreSQLCluster()
            later = try PostgreSQLCluster(standbyOf: former)
            let hosts = ["/nowhere", former.folder, later.folder].map { $0.split(separator: "/").map { "%2F\($0)" }.joined() }
            uri = "postgres://postgres@/postgres?host=\(hosts.joined(separator: ","))"
        }

        /// How many records there are whose ids begin so; `nil` if there is no table yet.
        static func count(_ prefix: String, in cluster: PostgreSQLCluster) -> Int? {
            (try? cluster.query("SELECT count(*) FROM freshet.record WHERE id LIKE '\(prefix)%'")).flatMap { Int($0) }
        }

        /// Waits until the standby has so many.
        func waitForStandby(_ prefix: String, count: Int) throws {
            let deadline = Deadline(after: .seconds(30))
            while Self.count(prefix, in: later) != count {
                guard !deadline.hasPassed else { throw Unexpected(what: "the standby does not follow") }
            }
        }
    }

    private func store(
        _ pair: Pair, _ change: (inout PostgreSQLRecordStore.Configuration) -> Void = { _ in }
    ) throws -> PostgreSQLRecordStore {
        var configuration = PostgreSQLRecordStore.Configuration()
        change(&configuration)
        return try PostgreSQLRecordStore(uri: pair.uri, configuration: configuration)
    }

    @Test("Once the hosts were asked, the former primary acknowledges nothing", arguments: [FailoverPolicy.renew, .keep])
    func takeover(_ policy: FailoverPolicy) throws {
        // Given
        let pair = try Pair()
        let store = try store(pair) { $0.failover = policy }
        for number in 1...10 { _ = try store.put("a/before-\(number)", in: namespace) }
        let before = try store.state(of: namespace).epoch
        try pair.waitForStandby("before", count: 10)
        // Then a standby, and a host that does not answer, say nothing
        store.checkHosts()
        _ = try store.put("a/split-1", in: namespace)
        try pair.waitForStandby("split", count: 1)
        // When
        try pair.later.promote()
        // Then nothing shows it to the server
        _ = try store.put("a/split-2", in: namespace)
        #expect(Pair.count("split", in: pair.former) == 2 && Pair.count("split", in: pair.later) == 1)
        // When
        store.checkHosts()
        for number in 1...30 { _ = try store.put("a/after-\(number)", in: namespace) }
        // Then
        #expect(Pair.count("after", in: pair.former) == 0 && Pair.count("after", in: pair.later) == 30)
        #expect(try (store.state(of: namespace).epoch == before) == (policy == .keep))
        let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'freshet'"
        #expect(try pair.former.query(left) == "0")
        // When a server starts afterwards, which takes the former primary for the one
        let late = try self.store(pair) { $0.failover = policy }
        late.checkHosts()
        _ = try late.put("a/late-1", in: namespace)
        // Then
        #expect(Pair.count("late", in: pair.later) == 1)
    }

    @Test("A commit at the former primary during the takeover is no acknowledgement, and without a later host writes are refused")
    func commitMeanwhile() throws {
        // Given
        let pair = try Pair()
        let action = Mutex<(@Sendable () -> Void)?>(nil)
        let store = try store(pair) {
            $0.onStep = { step in
                guard case .committing = step else { return }
                action.withLock { $0.take() }?()
            }
        }
        _ = try store.put("a/before", in: namespace)
        try pair.waitForStandby("before", count: 1)
        try pair.later.promote()
        action.withLock { $0 = { [weak store] in store?.checkHosts() } }
        // When
        let failure = #expect(throws: StoreError.self) {
            try store.transaction(touching: { TransactionScope(namespaces: [namespace]) }) { [namespace, key] transaction in
                _ = try transaction.namespace(namespace).put(
                    Content(json: Array("2".utf8)), at: key, over: nil, WriteMetadata(time: WriteTime(milliseconds: 5)))
            }
        }
        // Then
        guard case .outcomeUnknown? = failure else { throw Unexpected(what: "\(String(describing: failure))") }
        // When the later one cannot be reached
        try pair.later.query("ALTER DATABASE postgres ALLOW_CONNECTIONS false", in: "template1")
        let refused = #expect(throws: StoreError.self) { try store.put("a/after", in: namespace) }
        // Then
        guard case .unavailable? = refused else { throw Unexpected(what: "\(String(describing: refused))") }
        #expect(Pair.count("after", in: pair.former) == 0)
    }

    @Test("A store asks by itself")
    func watch() throws {
        // Given
        let pair = try Pair()
        let found = DispatchSemaphore(value: 0)
        let store = try store(pair) { configuration in
            configuration.hostCheckInterval = 20
            configuration.onTakeover = { found.signal() }
        }
        _ = try store.put("a/before", in: namespace)
        try pair.waitForStandby("before", count: 1)
        // When
        try pair.later.promote()
        // Then
        #expect(found.wait(timeout: .now() + 30) == .success)
        _ = try store.put("a/after", in: namespace)
        #expect(Pair.count("after", in: pair.former) == 0 && Pair.count("after", in: pair.later) == 1)
    }

    @Test("A later timeline of the same cluster takes over, and nothing else does")
    func rule() {
        func place(_ system: Int64, _ timeline: Int64) -> ServerPlace { ServerPlace(system: system, timeline: timeline) }
        let present = place(7, 3)
        for other in [present, place(7, 2), place(8, 9), place(8, 3)] { #expect(!other.continues(present), "\(other)") }
        for other in [place(7, 4), place(7, 9)] { #expect(other.continues(present), "\(other)") }
    }

    @Test("Hosts are asked at intervals, and soon after a new connection, with a pause between two rounds")
    func schedule() {
        // Given
        var schedule = HostCheckSchedule(interval: 2_000, now: 10_000)
        // Then
        #expect(schedule.remaining(now: 10_000) == 2_000 && schedule.remaining(now: 12_500) == 0)
        // When a connection is opened
        schedule.opened(now: 10_100)
        // Then
        #expect(schedule.remaining(now: 10_100) == 0)
        // When one is opened during the round
        schedule.began()
        schedule.opened(now: 10_200)
        schedule.ended(now: 10_300)
        // Then
        #expect(schedule.remaining(now: 10_300) == HostCheckSchedule.pause)
        // When none is
        schedule.began()
        schedule.ended(now: 11_000)
        // Then
        #expect(schedule.remaining(now: 11_000) == 2_000)
        schedule.opened(now: 11_100)
        #expect(schedule.remaining(now: 11_100) == HostCheckSchedule.pause - 100)
    }
}
#endif
