#if PostgreSQL
import Dispatch
import FreshetPostgreSQL
import FreshetPostgreSQLStore
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Logging
import Synchronization
import Testing

@Suite("PostgreSQL through a pooler", .enabled(if: PostgreSQLPooler.isInstalled, Comment(rawValue: PostgreSQLPooler.reason)))
struct PoolerTests {
    private let database: PostgreSQLDatabase
    private let namespace: Namespace

    init() throws {
        database = try PostgreSQLDatabase()
        namespace = try Namespace("shop")
    }

    private func open(_ pooler: PostgreSQLPooler) throws -> PostgreSQLRecordStore {
        try PostgreSQLRecordStore(uri: pooler.uri(database.name)) { 7 }
    }

    @Test func aPoolerThatLendsConnectionsForSessionsWorksWithoutNotifications() throws {
        // Given
        let pooler = try PostgreSQLPooler(.session, before: database.cluster)
        defer { withExtendedLifetime(pooler) {} }
        let stores = [try open(pooler), try open(pooler)]
        // When
        for store in stores { _ = try store.put("a/1", in: namespace) }
        // Then
        #expect(try stores[0].record(RecordKey("a/1"), in: namespace).value?.revision == Revision(2))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let arrived = DispatchSemaphore(value: 0)
        let events = Mutex<[HeadFollower.Event]>([])
        let connection = NotificationConnection(stores[0], logger: logger)
        connection.connect { event in
            events.withLock { $0.append(event) }
            arrived.signal()
        }
        #expect(arrived.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(events.withLock { $0 } == [.lost])
        connection.disconnect()
    }

    @Test func aPoolerThatLosesPreparedStatementsIsNamedInTheError() throws {
        // Given
        let pooler = try PostgreSQLPooler(.transaction, before: database.cluster)
        defer { withExtendedLifetime(pooler) {} }
        // When: two connections prepare the same statements at one of PostgreSQL. Later versions of the pooler keep them apart.
        do {
            for store in [try open(pooler), try open(pooler)] { _ = try store.put("a/1", in: namespace) }
        } catch StoreError.failed(_, let reason) {
            // Then
            #expect(reason.contains("without a pooler"))
        }
    }
}
#endif
