import FreshetWire
import Testing

@testable import FreshetServer

/// Later polls of a connection skip the parser and the router, and must be answered like the first one.
@Suite("Repeated polls over HTTP", .overBothStores) struct RepeatedPollTests {
    private static let fields = [("User-Agent", "device-1"), ("Authorization", "Bearer abc")]

    @Test("Each poll of a connection continues from its position, with the filter of its query")
    func continues() async throws {
        try await TestServer.with { server in
            // Given three changes
            let start = try #require(try await server.request("GET", "/v1/shop").cursor)
            var cursors = [start]
            for key in ["fruits/apple", "nuts/almond", "fruits/fig"] {
                cursors.append(try await server.put("/v1/shop/records/\(key)", "1").cursor)
            }
            let positions = cursors
            // When one connection polls from each position, with two filters in turn
            let found = try await server.thread { connection in
                try positions.map { cursor in
                    try ["fruits", "nuts"].map { collection in
                        let target = "/v1/shop/changes?since=\(cursor)&collection=\(collection)&wait=0"
                        let reply = try connection.request("GET", target, Self.fields)
                        return reply.status == 204 ? [] : try reply.message(ChangePage.self).changes.map(\.revision.number)
                    }
                }
            }
            // Then
            #expect(found == [[[1, 3], [2]], [[3], [2]], [[3], []], [[], []]])
        }
    }

    @Test(
        "A position that is not valid is refused in a repeated poll as in the first",
        arguments: ["nonsense", "a-b", "A-1", "a-01", "-", "a-1-2-3"]
    )
    func refuses(since: String) async throws {
        try await TestServer.with { server in
            let cursor = try await server.put("/v1/shop/records/a/1", "1").cursor
            // When a connection sends it first, and another after a valid poll
            let target = "/v1/shop/changes?wait=0&since="
            let first = try await server.thread { try $0.request("GET", target + since, Self.fields) }
            let repeated = try await server.thread { connection in
                _ = try connection.request("GET", target + cursor.description, Self.fields)
                return try connection.request("GET", target + since, Self.fields)
            }
            // Then
            #expect(first.status == 400 && repeated.status == 400)
            #expect(first.body == repeated.body && repeated.cursor == cursor)
            // The first one's feed is not open yet.
            #expect(first.statesPosition)
        }
    }

    @Test("A repeated poll may also ask from nothing and from now")
    func special() async throws {
        try await TestServer.with { server in
            let cursor = try await server.put("/v1/shop/records/a/1", "1").cursor
            let pages = try await server.thread { connection in
                try [cursor.description, "0", "now"].map {
                    let reply = try connection.request("GET", "/v1/shop/changes?since=\($0)&wait=0", Self.fields)
                    return reply.status == 204 ? nil : try reply.message(ChangePage.self).changes.count
                }
            }
            #expect(pages == [nil, 1, 0])
        }
    }

    @Test("A connection that waits again after a change gets the next one")
    func waitsAgain() async throws {
        try await TestServer.with { server in
            // Given a connection that polls three times in a row
            let start = try #require(try await server.request("GET", "/v1/shop").cursor)
            async let found = server.thread { connection in
                var cursor = start
                return try (0..<3).map { _ in
                    let target = "/v1/shop/changes?since=\(cursor)&wait=60"
                    let page = try connection.request("GET", target, Self.fields).message(ChangePage.self)
                    cursor = page.cursor
                    return page.changes.map(\.revision.number)
                }
            }
            // When a change comes each time that it waits
            for number in 1...3 {
                try await server.waitUntil(waiting: 1, in: "shop")
                try await server.put("/v1/shop/records/a/\(number)", "1")
            }
            // Then
            #expect(try await found == [[1], [2], [3]])
        }
    }
}
