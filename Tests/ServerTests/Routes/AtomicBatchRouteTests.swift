import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Atomic batches on the pages of the feed", .overBothStores) struct AtomicBatchRouteTests {
    /// Posts an atomic batch of records, the first of which has the number `first`.
    private static func post(_ server: TestServer, from first: Int64 = 1, _ value: String = "1", count: Int64 = 5) async throws {
        let batch = WriteBatch(
            client: try ClientIdentifier("till"), atomic: true,
            writes: try (first..<first + count).map { try Write($0, "a/\($0)", .put(json: value)) })
        let reply = try await server.request(
            "POST", "/v1/shop/writes", TestServer.json, String(decoding: batch.json, as: UTF8.self))
        #expect(reply.status == 200)
    }

    /// The revisions of each page, from a position to the end.
    private func pages(_ server: TestServer, since: String, _ parameters: String = "limit=2") async throws -> [[Int64]] {
        var pages: [[Int64]] = []
        var since = since
        while true {
            let reply = try await server.request("GET", "/v1/shop/changes?since=\(since)&wait=0&\(parameters)")
            guard reply.status == 200 else { return pages }
            let page = try reply.message(ChangePage.self)
            pages.append(page.changes.map(\.revision.number))
            since = page.cursor.description
            if page.upToDate { return pages }
        }
    }

    /// Where a server keeps its records: in memory, in a file, or in a file alone, since the feed's memory has room for
    /// one change.
    enum Keeping: CaseIterable, Sendable {
        case memory, file, noRecentChanges
    }

    @Test(arguments: Keeping.allCases)
    func aPageGoesOnToTheEndOfABatch(_ keeping: Keeping) async throws {
        // Given
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration()
        if keeping != .memory { configuration.storage = .directory(directory.file("data")) }
        if keeping == .noRecentChanges { configuration.recentChanges = 1 }
        try await TestServer.with(configuration) { server in
            let start = try await server.put("/v1/shop/records/b/1", "1").cursor
            async let live = server.request("GET", "/v1/shop/changes?since=\(start)&limit=2&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When
            try await Self.post(server)
            try await Self.post(server, from: 6)
            try await server.put("/v1/shop/records/b/2", "1")
            // Then a poll that waited, and reads from its position, from within a batch and from nothing, return whole
            // batches
            let page = try await live.message(ChangePage.self)
            #expect(page.changes.map(\.revision.number) == [2, 3, 4, 5, 6] && page.cursor.revision.number == 6)
            #expect(try await pages(server, since: start.description) == [[2, 3, 4, 5, 6], [7, 8, 9, 10, 11], [12]])
            #expect(try await pages(server, since: "\(start.epoch)-4") == [[5, 6], [7, 8, 9, 10, 11], [12]])
            #expect(try await pages(server, since: "0") == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11], [12]])
            // Then a client that asks for one change at a time gets one at a time
            #expect(try await pages(server, since: start.description, "limit=1").count == 11)
        }
    }

    @Test func aBatchIsWholeAfterARestart() async throws {
        // Given
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration()
        configuration.storage = .directory(directory.file("data"))
        try await TestServer.with(configuration) { server in try await Self.post(server) }
        // When, then
        let found = try await TestServer.with(configuration) { server in try await pages(server, since: "0") }
        #expect(found == [[1, 2, 3, 4, 5]])
    }

    @Test func aStreamGetsALargeBatchInOneEventAndGoesOn() async throws {
        try await TestServer.with { server in
            // Given three streams: from nothing, which waits, with a filter, and one that comes later
            let value = "\"" + String(repeating: "x", count: 60_000) + "\""
            let accept = [("Accept", "text/event-stream")]
            @Sendable func read(_ connection: RawConnection, _ query: String, _ events: Int) throws -> [[Int64]] {
                try connection.sendRequest("GET", "/v1/shop/changes?\(query)", accept)
                _ = try connection.readHead()
                return try (0..<events).map { _ in
                    let lines = String(decoding: try connection.readEvent(), as: UTF8.self).split(separator: "\n")
                    let data = lines.first { $0.hasPrefix("data: ") }?.dropFirst(6) ?? ""
                    return try ChangePage(json: Array(data.utf8)).changes.map(\.revision.number)
                }
            }
            async let all = server.thread { try read($0, "since=0&limit=2", 3) }
            async let some = server.thread { try read($0, "since=0&limit=2&collection=a", 2) }
            try await server.waitUntil(waiting: 2, in: "shop")
            // When: the batch has 300 kB, more than a stream's page and than what a peer may leave unread
            try await Self.post(server, value)
            try await Self.post(server, from: 6, value)
            try await server.put("/v1/shop/records/b/1", "1")
            // Then
            #expect(try await all == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11]])
            #expect(try await some == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
            let late = try await server.thread { try read($0, "since=0&limit=2", 3) }
            #expect(late == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11]])
        }
    }

    @Test func aStreamGoesOnAfterABatchOfSeveralMegabytes() async throws {
        try await TestServer.with { server in
            // Given a stream that waits
            @Sendable func read(_ connection: RawConnection) throws -> [[Int64]] {
                try connection.sendRequest("GET", "/v1/shop/changes?since=0", [("Accept", "text/event-stream")])
                _ = try connection.readHead()
                return try (0..<2).map { _ in
                    let event = try connection.readEvent()
                    let data = try #require(event.firstRange(of: Array("data: ".utf8)))
                    return try ChangePage(json: Array(event[data.upperBound...].dropLast(2))).changes.map(\.revision.number)
                }
            }
            async let waiting = server.thread { try read($0) }
            try await server.waitUntil(waiting: 1, in: "shop")
            // When a batch of 3 MB comes, of which the server can send a small part at once, and then a record
            let value = "\"" + String(repeating: "x", count: 60_000) + "\""
            try await Self.post(server, value, count: 50)
            try await server.put("/v1/shop/records/b/1", "1")
            // Then it gets both, and so does one that comes later
            let events: [[Int64]] = [Array(1...50), [51]]
            #expect(try await waiting == events)
            let late = try await server.thread { try read($0) }
            #expect(late == events)
        }
    }
}
