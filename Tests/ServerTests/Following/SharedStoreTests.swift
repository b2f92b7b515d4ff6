import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Logging
import Synchronization
import Testing

@testable import FreshetServer

/// Two and three real servers over one store, with clients that move between them.
@Suite("Several servers over one store") struct SharedStoreTests {
    private static func with<Result>(
        _ count: Int, over store: any RecordStore, _ announcements: LocalAnnouncements = LocalAnnouncements(),
        requiringKeys: Bool = false, _ body: ([TestServer]) async throws -> Result
    ) async throws -> Result {
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = requiringKeys
        let servers = try (0..<count).map { _ in
            try TestServer(sharing: SharedStore(store, announcements.connection()), configuration)
        }
        do {
            let result = try await body(servers)
            for test in servers { await test.server.stop() }
            return result
        } catch {
            for test in servers { await test.server.stop() }
            throw error
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aPollThatWaitsAtOneServerIsAnsweredByAWriteAtAnother(_ kind: StoreKind) async throws {
        // Given. Two servers share one open SQLite store: its one writer takes their transactions one after the other.
        let fixture = try StoreFixture(kind)
        try await Self.with(2, over: fixture.store) { servers in
            let start = try #require(try await servers[1].request("GET", "/v1/shop").cursor)
            async let woken = servers[1].request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await servers[1].waitUntil(waiting: 1, in: "shop")
            // When
            let receipt = try await servers[0].put("/v1/shop/records/fruits/apple", "1")
            // Then
            let page = try await woken.message(ChangePage.self)
            #expect(page.cursor == receipt.cursor)
            #expect(page.changes.map { $0.revision } == [receipt.revision].compactMap { $0 })
            // And the metrics say how the other servers and the store are reached
            var metrics = ""
            // A lane is free a moment after its responses.
            while !metrics.contains("\nfreshet_write_lanes_busy 0\n") { metrics = try await servers[0].request("GET", "/metrics").text }
            #expect(metrics.contains("\nfreshet_announcements_connected "))
            #expect(metrics.contains("\nfreshet_store_oldest_transaction_seconds ") == (kind == .postgreSQL))
        }
    }

    @Test func aServerThatReceivesNothingComparesItsFeedsWithTheStore() async throws {
        // Given
        let fixture = try StoreFixture(.memory)
        try await Self.with(2, over: fixture.store, LocalAnnouncements(isReachable: false)) { servers in
            let start = try #require(try await servers[1].request("GET", "/v1/shop").cursor)
            async let woken = servers[1].request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await servers[1].waitUntil(waiting: 1, in: "shop")
            // When
            let receipt = try await servers[0].put("/v1/shop/records/fruits/apple", "1")
            // Then
            #expect(try await woken.message(ChangePage.self).cursor == receipt.cursor)
            #expect(servers.allSatisfy { $0.server.core?.follower?.isConnected == false })
        }
    }

    /// A store that counts the reads of states.
    private final class CountingStore: ForwardingStore {
        private let base = MemoryRecordStore(seed: 1)
        /// How many namespaces each read asked for.
        let counts = Mutex<[Int]>([])

        var reads: any RecordStore { base }
        var identifier: StoreIdentifier { base.identifier }

        func transaction<Result: Sendable>(
            touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
        ) throws -> Result { try base.transaction(touching: scope, body) }

        func state(of namespace: Namespace) throws(StoreError) -> NamespaceState {
            counts.withLock { $0.append(1) }
            return base.state(of: namespace)
        }

        func states(of namespaces: [Namespace]) throws(StoreError) -> [NamespaceState] {
            counts.withLock { $0.append(namespaces.count) }
            return try base.states(of: namespaces)
        }
    }

    @Test func aReconciliationReadsTheStoreOnceForManyNamespaces() async throws {
        // Given twenty feeds
        let store = CountingStore()
        try await Self.with(1, over: store, LocalAnnouncements(isReachable: false)) { servers in
            for number in 1...20 {
                _ = try await servers[0].request("GET", "/v1/shop-\(number)/changes?since=now&wait=0")
                // A feed without recent changes leaves memory after some seconds.
                try await servers[0].put("/v1/shop-\(number)/records/a/1", "1")
            }
            // When the server has compared them with the store twice, without the first time, which may have begun before the last feed was open
            store.counts.withLock { $0.removeAll() }
            while store.counts.withLock({ $0.count }) < 3 { await Task.yield() }
            // Then
            #expect(store.counts.withLock { $0.dropFirst().prefix(2) } == [20, 20])
        }
    }

    @Test func aServerPublishesTheCommitsOfOthersBeforeItsOwn() async throws {
        // Given a poll at a server to which no announcement gets through
        let fixture = try StoreFixture(.memory)
        let deaf = LocalAnnouncements { message, receiver in receiver == 1 && !message.heads.isEmpty ? 0 : 1 }
        try await Self.with(2, over: fixture.store, deaf) { servers in
            let start = try #require(try await servers[1].request("GET", "/v1/shop").cursor)
            async let woken = servers[1].request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await servers[1].waitUntil(waiting: 1, in: "shop")
            // When both write
            let first = try await servers[0].put("/v1/shop/records/fruits/apple", "1")
            let second = try await servers[1].put("/v1/shop/records/fruits/fig", "1")
            // Then the poll gets both, in order
            var revisions: [Revision] = []
            var page = try await woken.message(ChangePage.self)
            revisions += page.changes.map(\.revision)
            while page.cursor != second.cursor {
                page = try await servers[1].request("GET", "/v1/shop/changes?since=\(page.cursor)&wait=60").message()
                revisions += page.changes.map(\.revision)
            }
            #expect(revisions == [first.revision, second.revision].compactMap { $0 })
        }
    }

    @Test func aClientThatWroteElsewhereIsNotSentBack() async throws {
        // Given a feed that is behind, since no announcement arrives
        let fixture = try StoreFixture(.memory)
        let deaf = LocalAnnouncements { message, _ in message.heads.isEmpty ? 1 : 0 }
        try await Self.with(2, over: fixture.store, deaf) { servers in
            _ = try await servers[1].request("GET", "/v1/shop/changes?since=now")
            let start = try #require(try await servers[1].request("GET", "/v1/shop").cursor)
            async let waiting = servers[1].request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await servers[1].waitUntil(waiting: 1, in: "shop")
            let receipt = try await servers[0].put("/v1/shop/records/fruits/apple", "1")
            // Then
            for target in [
                "changes?since=now", "changes?since=now&wait=0", "changes?since=\(receipt.cursor)&wait=0", "records/fruits/apple",
            ] {
                #expect(try await servers[1].request("GET", "/v1/shop/\(target)").cursor == receipt.cursor, "\(target)")
            }
            // And a poll after that position waits until the feed has reached it
            async let later = servers[1].request("GET", "/v1/shop/changes?since=\(receipt.cursor)&wait=60")
            let second = try await servers[1].put("/v1/shop/records/fruits/fig", "1")
            #expect(try await later.message(ChangePage.self).cursor == second.cursor)
            #expect(try await waiting.cursor?.revision ?? .zero >= receipt.cursor.revision)
        }
    }

    @Test func aDropAtOneServerEndsTheHistoryAtAll() async throws {
        // Given
        let fixture = try StoreFixture(.memory)
        try await Self.with(2, over: fixture.store) { servers in
            let receipt = try await servers[0].put("/v1/shop/records/fruits/apple", "1")
            async let woken = servers[1].request("GET", "/v1/shop/changes?since=\(receipt.cursor)&wait=60")
            try await servers[1].waitUntil(waiting: 1, in: "shop")
            // When
            _ = try await servers[0].request("DELETE", "/v1/shop")
            // Then
            let gone = try await woken
            #expect(gone.status == 410 && gone.problem?.code == .epochChanged)
            #expect(gone.cursor?.epoch != receipt.cursor.epoch)
        }
    }

    @Test(arguments: [StoreKind.memory, .sqlite], [0, 1, 2] as [UInt64])
    func clientsThatMoveBetweenServersMissNothing(_ kind: StoreKind, seed: UInt64) async throws {
        // Given three servers whose announcements are lost or doubled, one in four each
        let fixture = try StoreFixture(kind)
        let random = Mutex(SeededGenerator(seed: seed))
        let announcements = LocalAnnouncements { message, _ in
            message.heads.isEmpty ? 1 : random.withLock { [0, 1, 1, 2][Int.random(in: 0..<4, using: &$0)] }
        }
        try await Self.with(3, over: fixture.store, announcements) { servers in
            let start = try #require(try await servers[0].request("GET", "/v1/shop").cursor)
            // When three writers write 40 records each, in turn at all servers
            async let writes: Void = withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<3 {
                    group.addTask {
                        for number in 0..<40 {
                            try await servers[(writer + number) % 3].put("/v1/shop/records/notes/\(writer)-\(number % 10)", "\(number)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            // And three clients follow, each poll at another server, until they have all
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<3 {
                    group.addTask { try await Self.follow(from: start, to: 120, servers, client) }
                }
                try await group.waitForAll()
            }
            try await writes
        }
    }

    /// Polls server after server until the position has the revision, and checks what a client may expect.
    private static func follow(from start: Cursor, to revision: Int64, _ servers: [TestServer], _ client: Int) async throws {
        var cursor = start
        var latest: [RecordKey: Revision] = [:]
        var polls = client
        while cursor.revision.number < revision {
            polls += 1
            let reply = try await servers[polls % 3].request("GET", "/v1/shop/changes?since=\(cursor)&wait=1")
            let next = try #require(reply.cursor)
            #expect(next.epoch == cursor.epoch && next.revision >= cursor.revision, "the cursor falls")
            if reply.status == 200 {
                for change in try reply.message(ChangePage.self).changes {
                    #expect(change.revision > cursor.revision && change.revision <= next.revision)
                    guard case .put(let key, _, _, _) = change.effect else { continue }
                    #expect(change.revision > latest[key] ?? .zero)
                    latest[key] = change.revision
                }
            }
            cursor = next
        }
        // The client holds the latest change of each record.
        let list = try await servers[0].request("GET", "/v1/shop/records/notes?limit=1000").message(RecordList.self)
        #expect(list.records.count == 30)
        for record in list.records { #expect(latest[record.key] == record.revision) }
    }

    @Test(
        "A key that is revoked at one server is refused at the other, and its waits end", arguments: [StoreKind.memory] + StoreKind.shared)
    func revocation(_ kind: StoreKind) async throws {
        // Given an administrator's key, which both servers find in the store
        let fixture = try StoreFixture(kind)
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(using: &random)
        let stored = StoredKey(key, name: "operator", rights: .all, isAdmin: true, created: 0)
        try fixture.store.transaction { try $0.keep(stored.row) }
        let administrator = ("Authorization", "Bearer " + String(decoding: key.token.exposed, as: UTF8.self))
        try await Self.with(2, over: fixture.store, LocalAnnouncements(isReachable: false), requiringKeys: true) { servers in
            // And another, which the first server makes
            let body = #"{"name":"till","allow":[{"ns":"shop","in":["*"],"may":["read","write","create"]}]}"#
            let made = try await servers[0].request("POST", "/admin/keys", TestServer.json + [administrator], body)
            #expect(made.status == 201)
            let token = try #require(made.text.firstMatch(of: /"key":"([^"]*)"/)?.1)
            let id = try #require(made.text.firstMatch(of: /"id":"([^"]*)"/)?.1)
            let till = ("Authorization", "Bearer \(token)")
            // Which the second server learns
            while try await servers[1].request("GET", "/v1/shop/changes?since=now&wait=0", [till]).status == 401 { await Task.yield() }
            let written = try await servers[1].request("PUT", "/v1/shop/records/fruits/apple", TestServer.json + [till], "1")
            let start = try #require(written.cursor)
            async let poll = servers[1].request("GET", "/v1/shop/changes?since=\(start)&wait=60", [till])
            try await servers[1].waitUntil(waiting: 1, in: "shop", administrator)
            // When
            #expect(try await servers[0].request("DELETE", "/admin/keys/\(id)", [administrator]).status == 200)
            // Then
            #expect(try await servers[1].request("PUT", "/v1/shop/records/fruits/apple", TestServer.json + [till], "2").status == 401)
            #expect(try await poll.status == 401)
            #expect(try await servers[0].request("GET", "/v1/shop/records/fruits/apple", [administrator]).text == "1")
            // And no server changes or revives the key
            for server in servers {
                let change = try await server.request(
                    "PATCH", "/admin/keys/\(id)", TestServer.json + [administrator], #"{"disabled":false}"#)
                #expect(change.status == 404)
            }
        }
    }

    @Test func aServerThatStopsLeavesTheStoreToTheOthers() async throws {
        // Given
        let fixture = try StoreFixture(.memory)
        let announcements = LocalAnnouncements()
        let stopped = try TestServer(sharing: SharedStore(fixture.store, announcements.connection()))
        try await Self.with(1, over: fixture.store, announcements) { servers in
            // When
            try await stopped.put("/v1/shop/records/fruits/apple", "1")
            await stopped.server.stop()
            // Then
            #expect(try await servers[0].request("GET", "/v1/shop/records/fruits/apple").text == "1")
            #expect(try await servers[0].put("/v1/shop/records/fruits/apple", "2").revision?.number == 2)
        }
    }
}
