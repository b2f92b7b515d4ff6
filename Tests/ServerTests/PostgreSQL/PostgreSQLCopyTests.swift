#if PostgreSQL
import FreshetPostgreSQLStore
import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite(
    "Copies from and to PostgreSQL", .enabled(if: PostgreSQLCluster.isInstalled, Comment(rawValue: PostgreSQLCluster.reason)),
    .timeLimit(.minutes(5)))
struct PostgreSQLCopyTests {
    private let directory = TemporaryDirectory()
    private let database: PostgreSQLDatabase

    init() throws { database = try PostgreSQLDatabase() }

    private func sqlite(_ name: String) throws -> StoreFixture {
        try StoreFixture(over: SQLiteRecordStore(directory: directory.file(name), seed: 5, readers: 1))
    }

    private func postgreSQL(_ database: PostgreSQLDatabase? = nil) throws -> StoreFixture {
        let store = try (database ?? self.database).store(seed: 6)
        return try StoreFixture(over: #require(store))
    }

    private func end(_ name: String) throws -> SQLiteCopyEnd { try SQLiteCopyEnd(directory: directory.file(name)) }

    private func end(_ database: PostgreSQLDatabase? = nil) throws -> PostgreSQLCopyEnd {
        try PostgreSQLCopyEnd(uri: (database ?? self.database).uri)
    }

    private func makeSource() throws {
        let store = try sqlite("a")
        try store.put("a/1", "1")
        try store.addRareRows()
    }

    /// Runs the same operations on both stores, and compares all answers.
    private func goOn(_ first: StoreFixture, _ second: StoreFixture, _ script: inout StoreScript, _ steps: ClosedRange<Int>) throws {
        var (names, others) = (EpochNames(), EpochNames())
        for step in steps {
            let group = try script.group()
            let time = StoreScript.time(Int64(step * 10))
            let (one, other) = try (first.run(group, at: time), second.run(group, at: time))
            try #require(names.renamed(one) == others.renamed(other), "step \(step)")
            let probe = try script.probe()
            let (seen, also) = try (first.look(probe), second.look(probe))
            try #require(names.renamed(seen) == others.renamed(also), "after step \(step): \(probe)")
        }
    }

    @Test("A store states the same and goes on alike in PostgreSQL, and back in SQLite", arguments: [1, 2, 3] as [UInt64])
    func roundTrip(_ seed: UInt64) throws {
        // Given a store with a random history, and with every kind of row
        var script = StoreScript(seed: seed)
        let stated: [String]
        do {
            let first = try sqlite("a")
            for step in 1...60 { _ = try first.run(script.group(), at: StoreScript.time(Int64(step * 10))) }
            try first.addRareRows()
            stated = try first.everything()
        }
        // When it is copied to PostgreSQL
        let summary = try StoreCopy.run(from: end("a"), to: end())
        // Then all that clients know is the same, and numbered writes are decided as the source decides them
        let moved: [String]
        do {
            let (first, second) = (try sqlite("a"), try postgreSQL())
            #expect(try second.everything() == stated)
            #expect(summary.size(of: .outcome).rows > 0 && summary.size(of: .client).rows > 0 && summary.size(of: .invalidation).rows > 0)
            try goOn(first, second, &script, 61...100)
            // Given epochs that have a token
            _ = try second.run([.rotate(seed + 40)], at: StoreScript.time(1_001))
            try second.addRareRows()
            moved = try second.everything()
        }
        // When it is copied back
        let back = try StoreCopy.run(from: end(), to: end("b"))
        // Then
        do {
            let (second, third) = (try postgreSQL(), try sqlite("b"))
            #expect(try third.everything() == moved)
            try goOn(second, third, &script, 101...140)
        }
        // When it goes to another database from there, and to another directory
        let other = try PostgreSQLDatabase()
        let last = try sqlite("b").everything()
        let third = try StoreCopy.run(from: end("b"), to: end(other))
        #expect(try postgreSQL(other).everything() == last)
        #expect(try StoreCopy.run(from: end(other), to: end("c")) == third && third != back)
        #expect(try sqlite("c").everything() == last)
    }

    @Test("A store of several pages of every table is copied both ways")
    func pages() throws {
        // Given
        do {
            let store = try sqlite("a").store
            try store.transaction { transaction in
                let time = Timestamp(milliseconds: 1_000)
                for index in 1...1_100 {
                    let shop = try transaction.namespace(Namespace("shop-\(index)"))
                    let key = try RecordKey("a/\(index)")
                    let metadata = WriteMetadata(time: WriteTime(time))
                    _ = try shop.put(Content(json: Array("\(index)".utf8)), at: key, over: nil, metadata)
                    _ = try shop.invalidate(.collection("b", prefix: "\(index)"), at: WriteTime(time))
                    let outcome = StoredOutcome(number: 1, verdict: .applied(Revision(1)))
                    try shop.keep([outcome], of: ClientIdentifier("phone-\(index)"), owner: nil, settled: 0, at: time)
                    try transaction.keep(AccessRow(.key, name: "k\(index)", value: [1]))
                }
            }
        }
        // When
        let there = try StoreCopy.run(from: end("a"), to: end())
        let back = try StoreCopy.run(from: end(), to: end("b"))
        // Then
        #expect(StoredTable.allCases.map { there.size(of: $0).rows } == [0, 1_100, 1_100, 1_100, 1_100, 1_100, 1_100])
        #expect(back == there)
        let last = try Namespace("shop-1100")
        #expect(try sqlite("a").store.state(of: last) == sqlite("b").store.state(of: last))
    }

    @Test("A copy to PostgreSQL that fails, or differs, leaves an empty store", arguments: LossyEnd<PostgreSQLCopyEnd>.Loss.allCases)
    func losses(_ loss: LossyEnd<PostgreSQLCopyEnd>.Loss) throws {
        // Given
        try makeSource()
        // When
        let failure: StoreError?
        do {
            _ = try StoreCopy.run(from: end("a"), to: LossyEnd(end: end(), loss: loss))
            failure = nil
        } catch { failure = try #require(error as? StoreError) }
        // Then
        switch failure {
        case nil: #expect(loss == .nothing)
        case .full: #expect(loss == .failure)
        case .copyDiffers(let path, _): #expect(loss != .failure && path.hasPrefix("postgres://"))
        default: Issue.record("\(String(describing: failure))")
        }
        #expect(try postgreSQL().store.namespaces(limit: 9).isEmpty == (loss != .nothing))
        for table in ["record", "client", "outcome", "access", "namespace"] {
            let isEmpty = try database.cluster.query("SELECT count(*) = 0 FROM freshet.\(table)", in: database.name) == "t"
            #expect(isEmpty == (loss != .nothing), "\(table)")
        }
    }

    /// Runs a closure when everything is written and compared, and nothing is committed.
    private struct ObservedSource: StoreCopyEnd {
        let end: SQLiteCopyEnd
        let beforeCommit: () throws -> Void

        func withRows<Result>(_ body: (any StoredRows) throws -> Result) throws -> Result {
            try end.withRows { try body(Rows(rows: $0, beforeCommit: beforeCommit)) }
        }

        func makingStore<Result>(_ header: StoreHeader, _ body: (any WritableRows) throws -> Result) throws -> Result {
            try end.makingStore(header, body)
        }

        private struct Rows: StoredRows {
            let rows: any StoredRows
            let beforeCommit: () throws -> Void

            func header() throws -> StoreHeader { try rows.header() }
            func read(_ table: StoredTable, _ body: ([StoredRow]) throws -> Void) throws { try rows.read(table, body) }
            func checkUnchanged() throws { try beforeCommit() }
        }
    }

    @Test("A server that starts over the target while it is written has the copy fail, and serves an empty store")
    func serverOverTheTarget() throws {
        // Given
        try makeSource()
        var server: StoreFixture?
        let source = ObservedSource(end: try end("a")) {
            let started = try postgreSQL()
            _ = try started.store.state(of: started.namespace)
            server = started
        }
        // When
        let failure = try #require(throws: StoreError.self) { try StoreCopy.run(from: source, to: end()) }
        // Then
        guard case .serversConnected = failure else {
            Issue.record("\(failure)")
            return
        }
        let started = try #require(server)
        #expect(try started.store.namespaces(limit: 9).isEmpty)
        // And the server goes on with the store that it has found
        try started.put("a/1", "7")
        #expect(try started.value("a/1") == "7")
    }

    @Test("A connection that ends in the middle leaves an empty store")
    func lostConnection() throws {
        // Given
        try makeSource()
        let (cluster, name) = (database.cluster, database.name)
        let source = ObservedSource(end: try end("a")) {
            try cluster.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND application_name = 'freshet'")
        }
        // When
        let failure = try #require(throws: StoreError.self) { try StoreCopy.run(from: source, to: end()) }
        // Then
        guard case .unavailable = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(try postgreSQL().store.namespaces(limit: 9).isEmpty)
    }

    @Test("A database that servers use, or that holds something, is refused, and one without a store is no source")
    func refusals() throws {
        try makeSource()
        // Given a database without a schema: none is made
        let failure = try #require(throws: StoreError.self) { try StoreCopy.run(from: end(), to: end("b")) }
        guard case .noStore(let path) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(try database.cluster.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'freshet'", in: database.name) == "0")
        // Given a server that has read, at the target and at the source
        do {
            let server = try postgreSQL()
            _ = try server.store.state(of: server.namespace)
            #expect(throws: StoreError.serversConnected(path: path, connections: 1)) { try StoreCopy.run(from: end("a"), to: end()) }
            #expect(throws: StoreError.serversConnected(path: path, connections: 1)) { try StoreCopy.run(from: end(), to: end("b")) }
            try server.put("a/1", "7")
        }
        // Given a record
        #expect(throws: StoreError.notEmpty(path: path)) { try StoreCopy.run(from: end("a"), to: end()) }
        #expect(try postgreSQL().value("a/1") == "7")
        // Given a newer schema
        try database.cluster.query("UPDATE freshet.store SET schema = 99", in: database.name)
        let newer = StoreError.newerSchema(path: path, found: 99, known: 4)
        #expect(throws: newer) { try StoreCopy.run(from: end("a"), to: end()) }
        #expect(throws: newer) { try StoreCopy.run(from: end(), to: end("b")) }
    }

    @Test("A server that starts while its store is copied cannot write, and the copy is not kept")
    func lateServer() throws {
        // Given
        try makeSource()
        _ = try StoreCopy.run(from: end("a"), to: end())
        struct Observed: StoreCopyEnd {
            let end: SQLiteCopyEnd
            let during: () throws -> Void
            func withRows<Result>(_ body: (any StoredRows) throws -> Result) throws -> Result { try end.withRows(body) }
            func makingStore<Result>(_ header: StoreHeader, _ body: (any WritableRows) throws -> Result) throws -> Result {
                try during()
                return try end.makingStore(header, body)
            }
        }
        var server: StoreFixture?
        let target = Observed(end: try end("b")) {
            // When
            let started = try postgreSQL()
            server = started
            let refusal = try #require(throws: StoreError.self) { try started.put("a/1", "2") }
            guard case .overloaded = refusal else {
                Issue.record("\(refusal)")
                return
            }
        }
        // Then
        let failure = try #require(throws: StoreError.self) { try StoreCopy.run(from: end(), to: target) }
        guard case .serversConnected = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(throws: StoreError.noStore(path: directory.file("b"))) { try StoreCopy.run(from: end("b"), to: end("c")) }
        let started = try #require(server)
        #expect(try started.value("a/1") == "1")
    }
}
#endif
