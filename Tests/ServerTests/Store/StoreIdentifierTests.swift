import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("The store's identifier") struct StoreIdentifierTests {
    private let directory = TemporaryDirectory()

    private func open(_ name: String, seed: UInt64) throws -> SQLiteRecordStore {
        try SQLiteRecordStore(directory: directory.file(name), seed: seed)
    }

    @Test("a file keeps it over a restart and a restored back-up, and another file has another")
    func fileKeepsIt() throws {
        // Given
        let first = try open("a", seed: 1).identifier
        // When it is opened again, as every start does with another seed, and gets new epochs
        let store = try open("a", seed: 2)
        let namespace = try Namespace("shop")
        let epoch = try store.state(of: namespace).epoch
        try store.transaction { try $0.rotateEpochs(seed: 3) }
        // Then
        #expect(try store.identifier == first && store.state(of: namespace).epoch != epoch)
        #expect(try open("b", seed: 2).identifier != first)
        #expect(first.token != epoch.token && first != .memory)
    }

    @Test("a file of an earlier version gets one and keeps it")
    func earlierFile() throws {
        // Given a file of the version before
        do { _ = try open("a", seed: 1) }
        do {
            let connection = try Connection(path: directory.file("a/freshet.db"))
            try connection.execute("DROP INDEX invalidation_by_time; ALTER TABLE invalidation DROP COLUMN since")
            try connection.execute("CREATE INDEX invalidation_by_time ON invalidation(modified, namespace, revision)")
            try connection.execute("ALTER TABLE store DROP COLUMN retention; ALTER TABLE store DROP COLUMN wall")
            try connection.execute("ALTER TABLE store DROP COLUMN identifier")
            try connection.execute("DROP TABLE access; ALTER TABLE client DROP COLUMN owner")
            try connection.execute("ALTER TABLE store DROP COLUMN token; ALTER TABLE namespace DROP COLUMN base")
            try connection.setUserVersion(3)
        }
        // When
        let made = try open("a", seed: 7).identifier
        // Then
        #expect(try made != .memory && open("a", seed: 8).identifier == made)
    }

    @Test("all stores in memory count as one")
    func memoryStores() {
        #expect(MemoryRecordStore(seed: 1).identifier == .memory && MemoryRecordStore(seed: 2).identifier == .memory)
    }

    @Test(arguments: ["", "A", "a-b", String(repeating: "a", count: 33)])
    func otherTextsAreNoIdentifiers(_ text: String) { #expect(StoreIdentifier(text) == nil) }
}
