import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Polls through a shared cache", .overBothStores) struct EdgeCachingTests {
    private static let shared = "public, max-age=1"

    private static var open: RecordServerConfiguration {
        var configuration = RecordServerConfiguration()
        configuration.edge = ["*"]
        return configuration
    }

    @Test func aPollThatWaitedMayBeKept() async throws {
        try await TestServer.with(Self.open) { server in
            // Given
            let start = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            async let woken = server.request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When
            let end = try await server.put("/v1/shop/records/fruits/fig", "2").cursor
            // Then
            let reply = try await woken
            #expect(try reply["Cache-Control"] == Self.shared && reply.message(ChangePage.self).cursor == end)
            // One that finds its page at once leads to the same URL.
            let late = try await server.request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            #expect(late["Cache-Control"] == Self.shared && late.body == reply.body)
        }
    }

    @Test("No change leads to another URL each time, and readers of one moment to the same")
    func turns() async throws {
        try await TestServer.with(Self.open) { server in
            // Given
            let start = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            // When
            async let first = server.request("GET", "/v1/shop/changes?since=\(start)&wait=1")
            async let twin = server.request("GET", "/v1/shop/changes?since=\(start)&wait=1")
            let (one, two) = (try await first, try await twin)
            let cursor = try #require(one.cursor)
            let next = try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=1")
            // Then
            #expect(one.status == 204 && one["Cache-Control"] == Self.shared)
            #expect(cursor.isPosition(of: start) && cursor.turn != nil)
            #expect(abs(Int(cursor.turn ?? 0) - Int(two.cursor?.turn ?? 0)) <= 1)
            #expect(next.status == 204 && (next.cursor?.turn ?? 0) > (cursor.turn ?? 0))
            #expect(next.cursor?.isPosition(of: start) == true)
            // And the turn is no part of the position.
            let end = try await server.put("/v1/shop/records/fruits/fig", "2").cursor
            let page = try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60").message(ChangePage.self)
            #expect(page.changes.count == 1 && page.cursor == end)
        }
    }

    @Test func whatDependsOnItsMomentIsNotKept() async throws {
        try await TestServer.with(Self.open) { server in
            // Given
            let start = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            let ahead = "\(start.epoch)-99"
            // When
            let replies = [
                try await server.request("GET", "/v1/shop/changes?since=now&wait=60"),
                try await server.request("GET", "/v1/shop/changes?since=\(start)&wait=0"),
                try await server.request("GET", "/v1/shop/changes?since=0&wait=0&client=till-1"),
                try await server.request("GET", "/v1/shop/changes?since=\(ahead)&wait=60"),
                try await server.request("GET", "/v1/shop/changes?since=nonsense&wait=60"),
                try await server.request("GET", "/v1/shop/records/fruits"),
            ]
            // Then
            #expect(replies.map(\.status) == [200, 204, 200, 410, 400, 200])
            #expect(replies.map { $0["Cache-Control"] } == Array(repeating: "no-store", count: 6))
            #expect(replies.compactMap(\.cursor?.turn).isEmpty)
        }
    }

    @Test func aPositionThatStaysInvalidMayBeKept() async throws {
        try await TestServer.with(Self.open) { server in
            // Given
            let start = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            async let waiting = server.request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When
            _ = try await server.request("DELETE", "/v1/shop")
            let late = try await server.request("GET", "/v1/shop/changes?since=\(start)&wait=60")
            // Then
            let reply = try await waiting
            #expect(reply.status == 410 && reply["Cache-Control"] == Self.shared)
            #expect(late.status == 410 && late["Cache-Control"] == Self.shared)
        }
    }

    @Test("Without the option nothing may be kept, and a turn is taken")
    func off() async throws {
        try await TestServer.with { server in
            // Given
            let start = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            // When
            let reply = try await server.request("GET", "/v1/shop/changes?since=\(start).7&wait=1")
            // Then
            #expect(reply.status == 204 && reply["Cache-Control"] == "no-store" && reply.cursor == start)
        }
    }

    @Test("With keys, only the cache's own polls may be kept, and it can ask who may read")
    func keys() async throws {
        let read = #"[{"ns":"shop","in":["*"],"may":["read","write","create","inspect"]}]"#
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        var random = SystemRandomNumberGenerator()
        let key = AccessKey(using: &random)
        configuration.edge = ["key:\(key.id)"]
        try await TestServer.with(configuration) { test in
            let server = AccessServer(test: test)
            try test.server.core?.keep(
                StoredKey(key, name: "edge", rights: try Rights(json: Array(read.utf8)), isAdmin: false, created: 0, expires: nil))
            let edge = ("Authorization", "Bearer " + String(decoding: key.token.exposed, as: UTF8.self))
            let user = try server.key(read).field
            let part = try server.key(#"[{"ns":"shop","in":["fruits/a*"],"may":["read"]}]"#).field
            let stranger = try server.key(#"[{"ns":"other","in":["*"],"may":["read"]}]"#).field
            // Given
            let receipt = try await server.request("PUT", "/v1/shop/records/fruits/apple", user, TestServer.json, "1")
            let start = try #require(receipt.cursor)
            // When
            let own = try await server.request("GET", "/v1/shop/changes?since=\(start)&wait=1", edge)
            let direct = try await server.request("GET", "/v1/shop/changes?since=\(start)&wait=1", user)
            // Then
            #expect(own["Cache-Control"] == Self.shared && own.cursor?.turn != nil)
            #expect(direct["Cache-Control"] == "no-store" && direct.cursor == start)
            // And
            for (holder, status) in [(user, 204), (edge, 204), (part, 403), (stranger, 403), (nil, 401)] {
                let reply = try await server.request("GET", "/v1/shop/access", holder)
                #expect(reply.status == status && reply.cursor == nil && reply["Cache-Control"] == "no-store")
            }
        }
    }

    @Test func everybodyIsNoPrincipalWhereKeysAreRequired() {
        // Given
        var configuration = Self.open
        configuration.requiresKeys = true
        // Then
        #expect(throws: RecordServerError.self) { try configuration.check() }
    }
}
