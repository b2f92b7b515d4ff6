#if PostgreSQL
import FreshetPostgreSQL
import FreshetPostgreSQLStore
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

/// The figures of a store in PostgreSQL, for the metrics.
@Suite("Statistics of a store in PostgreSQL", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct StoreStatisticsTests {
    @Test func connectionsAreCountedWhileTheyAreUsed() throws {
        // Given a store that has been used once
        let database = try PostgreSQLDatabase()
        let store = try PostgreSQLRecordStore(uri: database.uri) { 7 }
        let before = try #require(store.statistics())
        // When it is asked within a transaction
        let within = try store.transaction { _ in store.statistics() }
        // Then
        #expect(before.writing == 0 && before.failures == 0 && before.oldestTransaction != nil)
        #expect(within?.writing == 1 && within?.reading == 0 && (within?.opened ?? 0) > before.opened)
        #expect(store.statistics()?.writing == 0)
    }

    @Test func aSnapshotThatIsHeldIsSeen() throws {
        // Given a session with a snapshot that is two seconds old
        let database = try PostgreSQLDatabase()
        let store = try PostgreSQLRecordStore(uri: database.uri) { 7 }
        let holder = try Connection(ConnectionSettings(uri: database.uri))
        let deadline = Deadline(after: .seconds(20))
        try holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_sleep(2)", by: deadline)
        // When; Then
        #expect((store.statistics()?.oldestTransaction ?? 0) >= 2)
    }
}
#endif
