#if PostgreSQL
import FreshetPostgreSQL
import FreshetPostgreSQLStore
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// A namespace whose lock another server does not release: its own writes are refused, and those of others go on.
@Suite("Namespaces held elsewhere", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)))
struct HeldNamespaceTests {
    private static let names = ["held", "free", "other"]
    private let namespaces: [Namespace]

    init() throws { namespaces = try Self.names.map { try Namespace($0) } }

    /// Commits one write into each namespace as one group, and returns the status of each; 0 for success.
    private func commit(to store: PostgreSQLRecordStore, _ namespaces: [Namespace]) throws -> [Int] {
        let statuses = Mutex([Int](repeating: -1, count: namespaces.count))
        let key = try RecordKey("a/1")
        let group = namespaces.enumerated().map { index, namespace in
            Submission.single(SingleWrite(key: key, operation: .put(Content(checkedJSON: [0x31]))), in: namespace) { committed in
                let status = if case .failure(let problem) = committed.result { problem.status } else { 0 }
                statuses.withLock { $0[index] = status }
            }
        }
        try GroupCommit.commit(group, to: store, at: WriteTime(milliseconds: 0), editLimit: 1 << 20).complete()
        return statuses.withLock { $0 }
    }

    @Test func theOthersOfItsGroupGoOn() throws {
        // Given three namespaces, of which a server that has stopped holds one
        let database = try PostgreSQLDatabase()
        let store = try PostgreSQLRecordStore(uri: database.uri) { 7 }
        #expect(try commit(to: store, namespaces) == [0, 0, 0])
        let holder = try Connection(ConnectionSettings(uri: database.uri))
        try holder.execute("BEGIN; SELECT FROM freshet.namespace WHERE name = 'held' FOR UPDATE", by: Deadline(after: .seconds(20)))
        // When a group has writes for all of them, it waits for as long as a lock may take; Then the others are written
        #expect(try commit(to: store, namespaces) == [503, 0, 0])
        // And the next groups do not wait, not even for that namespace alone: waits would take a minute
        for group in [namespaces, [namespaces[0]]] {
            let deadline = Deadline(after: .seconds(30))
            for _ in 1...20 { #expect(try commit(to: store, group) == Array([503, 0, 0].prefix(group.count))) }
            #expect(!deadline.hasPassed)
        }
        // When it is released
        try holder.execute("ROLLBACK", by: Deadline(after: .seconds(20)))
        // Then it is written at once, and nothing was done while it was held
        #expect(try commit(to: store, namespaces) == [0, 0, 0])
        #expect(try store.state(of: namespaces[0]).head == Revision(2) && store.state(of: namespaces[1]).head == Revision(23))
    }
}
#endif
