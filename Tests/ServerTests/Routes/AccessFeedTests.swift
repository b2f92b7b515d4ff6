import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// The feed for readers who may not read everything.
@Suite("Rights and the feed over HTTP", .overBothStores) struct AccessFeedTests {
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#
    private static let part = #"[{"ns":"shop","in":["a","b/x*"],"may":["read"]}]"#

    private func keys(_ reply: Reply) throws -> [String] { try reply.message(ChangePage.self).changes.map { "\($0.scope)" } }

    @Test("A restricted reader receives the changes and sweeps within its ranges, from memory, from the store and by waiting")
    func changesWithinTheRanges() async throws {
        try await AccessServer.with { server in
            // Given a reader's position, and changes inside and outside of its ranges
            let operate = try server.key(Self.all).field
            let reader = try server.key(Self.part).field
            _ = try await server.request("PUT", "/v1/shop/records/a/0", operate, TestServer.json, "0")
            let start = try #require(try await server.request("GET", "/v1/shop/changes?since=now&wait=0", reader).cursor)
            #expect(start.rights != nil)
            for key in ["a/1", "b/y1", "c/1", "b/x1"] {
                _ = try await server.request("PUT", "/v1/shop/records/\(key)", operate, TestServer.json, "1")
            }
            _ = try await server.post("/v1/shop/invalidations", operate, #"{"collection":"b"}"#)
            _ = try await server.post("/v1/shop/invalidations", operate, #"{"collection":"c"}"#)
            _ = try await server.post("/v1/shop/invalidations", operate, #"{"all":true}"#)
            // When it asks from there, and from nothing
            let target = "/v1/shop/changes?wait=0&since="
            let known = try await server.request("GET", target + start.description, reader).message(ChangePage.self)
            let found = try await server.request("GET", target + "0", reader).message(ChangePage.self)
            // Then it sees no name outside of its ranges
            let scopes = known.changes.map(\.scope)
            let key1 = try RecordKey("a/1")
            let key2 = try RecordKey("b/x1")
            let all: [InvalidationScope] = [.collection("a", prefix: ""), .collection("b", prefix: "x")]
            #expect(scopes == [.key(key1), .key(key2), .collection("b", prefix: "x")] + all)
            #expect(known.upToDate && known.cursor.rights == start.rights && known.cursor.revision.number == 8)
            #expect(found.changes.map(\.scope) == [.key(try RecordKey("a/0")), .key(key1), .key(key2)])
            #expect(found.cursor == known.cursor)
            // When it waits, and a change outside comes before one inside
            let position = known.cursor
            async let waiting = server.request("GET", "/v1/shop/changes?wait=60&since=\(position)", reader)
            try await server.test.waitUntil(waiting: 1, in: "shop", operate)
            _ = try await server.request("PUT", "/v1/shop/records/b/y2", operate, TestServer.json, "1")
            _ = try await server.request("PUT", "/v1/shop/records/b/x2", operate, TestServer.json, "1")
            // Then
            let page = try await waiting.message(ChangePage.self)
            #expect(page.changes.map(\.scope) == [.key(try RecordKey("b/x2"))] && page.cursor.revision.number == 10)
        }
    }

    @Test("A position that was given under other rights is refused, whichever response gave it")
    func changedRights() async throws {
        try await AccessServer.with { server in
            // Given
            let operate = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", operate, TestServer.json, "1")
            let readers = [operate, try server.key(Self.part).field, try server.key(#"[{"ns":"shop","in":["a"],"may":["read"]}]"#).field]
            var positions: [Cursor] = []
            for reader in readers {
                positions.append(try #require(try await server.request("GET", "/v1/shop/records/a", reader).cursor))
            }
            // When each follows from each list
            for (place, reader) in readers.enumerated() {
                for (given, position) in positions.enumerated() {
                    let reply = try await server.request("GET", "/v1/shop/changes?wait=0&since=\(position)", reader)
                    // Then
                    #expect(reply.status == (place == given ? 204 : 410))
                    if place != given { #expect(reply.problem?.code == .rightsChanged && reply.cursor?.rights == positions[place].rights) }
                }
            }
        }
    }

    @Test("A collection that the key may not read is refused, and a key without the namespace gets nothing")
    func forbiddenFilter() async throws {
        try await AccessServer.with { server in
            let reader = try server.key(Self.part).field
            let refused = try await server.request("GET", "/v1/shop/changes?since=0&wait=0&collection=c", reader)
            #expect(refused.status == 403 && refused.problem?.needs == Problem.Need(may: "read", of: "shop:c"))
            #expect(try await server.request("GET", "/v1/shop/changes?since=0&wait=0&collection=a", reader).status == 204)
            #expect(try await server.request("GET", "/v1/other/changes?since=0&wait=0", reader).status == 403)
        }
    }

    @Test("A revocation ends the waits of its key alone, and the same bytes are refused from then on")
    func revocation() async throws {
        try await AccessServer.with { server in
            // Given two waiting polls of one connection each, which have polled before, and a stream
            let operate = try server.key(Self.all, isAdmin: true).field
            let (stored, revoked) = try server.key(Self.all)
            _ = try await server.request("PUT", "/v1/shop/records/a/1", operate, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop", operate).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let ended = server.pollTwice(target, revoked, after: "/v1/shop/changes?since=0&wait=60")
            async let stream = server.stream(target, revoked)
            async let other = server.test.request("GET", target, [operate])
            try await server.test.waitUntil(waiting: 3, in: "shop", operate)
            // When
            #expect(try await server.request("DELETE", "/admin/keys/\(stored.id)", operate).status == 200)
            // Then the answer, the stream's end and the refusal come without any change
            #expect(try await ended == [401, 401])
            #expect(try await stream.isEmpty)
            try await server.test.waitUntil(waiting: 1, in: "shop", operate)
            _ = try await server.request("PUT", "/v1/shop/records/a/2", operate, TestServer.json, "1")
            #expect(try await other.status == 200)
        }
    }

    @Test("A wait ends when its key expires, and the next request is refused")
    func expiry() async throws {
        let clock = TestClock()
        try await AccessServer.with(environment: clock.environment) { server in
            // Given a key that has a second left
            let operate = try server.key(Self.all).field
            let reader = try server.key(Self.all, expires: clock.wall + 1_000).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", operate, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop", operate).cursor)
            async let waiting = server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60", reader)
            try await server.test.waitUntil(waiting: 1, in: "shop", operate)
            // When
            clock.advance(1_300)
            // Then
            #expect(try await waiting.status == 204)
            #expect(try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60", reader).status == 401)
        }
    }
}
