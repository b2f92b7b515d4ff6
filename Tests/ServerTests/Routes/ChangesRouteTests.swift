import FreshetWire
import Testing

@testable import FreshetServer

@Suite("The feed over HTTP", .overBothStores) struct ChangesRouteTests {
    @Test func fromNothingFromNowAndFromAPosition() async throws {
        try await TestServer.with { server in
            // Given
            let first = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            try await server.put("/v1/shop/records/fruits/fig", "2")
            try await server.put("/v1/shop/records/nuts/almond", #""x""#)
            let deleted = try await server.request("DELETE", "/v1/shop/records/fruits/fig")
            // When
            let start = try await server.request("GET", "/v1/shop/changes?since=0")
            let now = try await server.request("GET", "/v1/shop/changes?since=now")
            let rest = try await server.request("GET", "/v1/shop/changes?since=\(first)&values=false")
            let nuts = try await server.request("GET", "/v1/shop/changes?since=0&collection=nuts&prefix=al")
            let paged = try await server.request("GET", "/v1/shop/changes?since=0&limit=1")
            let again = try await server.request("GET", "/v1/shop/changes?since=\(first)&values=false")
            // Then
            let page = try start.message(ChangePage.self)
            #expect(page.changes.map(\.revision.number) == [1, 3] && page.upToDate && page.cursor == deleted.cursor)
            #expect(start["Cache-Control"] == "no-store" && start.cursor == page.cursor)
            #expect(try now.message(ChangePage.self) == ChangePage(changes: [], cursor: page.cursor, upToDate: true))
            #expect(
                try rest.message(ChangePage.self).changes.map(\.effect) == [
                    .put(try RecordKey("nuts/almond"), content: nil, contentType: "application/json", size: 3),
                    .delete(try RecordKey("fruits/fig")),
                ])
            #expect(rest.body == again.body)
            #expect(try nuts.message(ChangePage.self).changes.map(\.revision.number) == [3])
            let one = try paged.message(ChangePage.self)
            #expect(one.changes.count == 1 && !one.upToDate && one.cursor.revision == first.revision)
        }
    }

    @Test func aPollThatWaitsIsWokenByWhatItAskedFor() async throws {
        try await TestServer.with { server in
            // Given: no client has written yet, and still a reader can wait.
            let start = try #require(try await server.request("GET", "/v1/shop").cursor)
            async let woken = server.request("GET", "/v1/shop/changes?since=\(start)&collection=fruits&wait=60")
            async let twin = server.request("GET", "/v1/shop/changes?since=\(start)&collection=fruits&wait=60")
            async let empty = server.request("GET", "/v1/shop/changes?since=0&collection=fruits&wait=60")
            try await server.waitUntil(waiting: 3, in: "shop")
            // When
            try await server.put("/v1/shop/records/nuts/almond", "1")
            let receipt = try await server.request(
                "PUT", "/v1/shop/records/fruits/apple",
                [("Content-Type", "application/json"), ("Freshet-Client", "till-1"), ("Freshet-Write", "1")], #"{"price":3}"#)
            // Then
            let page = try await woken.message(ChangePage.self)
            #expect(page.cursor == receipt.cursor && page.upToDate)
            #expect(page.changes.count == 1)
            #expect(page.changes.first?.author == Change.Author(client: try ClientIdentifier("till-1"), write: 1))
            #expect(try await twin.body == woken.body)
            #expect(try await empty.body == woken.body)
            try await server.waitUntil(waiting: 0, in: "shop")
        }
    }

    @Test func nothingHappensAndThePositionMovesOn() async throws {
        let clock = TestClock()
        try await TestServer.with(environment: clock.environment) { server in
            // Given
            let start = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            async let waited = server.request("GET", "/v1/shop/changes?since=\(start)&collection=nuts&wait=1")
            try await server.waitUntil(waiting: 1, in: "shop")
            let head = try await server.put("/v1/shop/records/fruits/apple", "2").cursor
            clock.advance(1_500)
            // Then
            let reply = try await waited
            #expect(reply.status == 204 && reply.body.isEmpty && reply.cursor == head)
            #expect(reply["Cache-Control"] == "no-store")
            let atOnce = try await server.request("GET", "/v1/shop/changes?since=\(head)&wait=0")
            #expect(atOnce.status == 204 && atOnce.cursor == head)
            #expect(try await server.request("HEAD", "/v1/shop/changes?since=\(head)").status == 204)
        }
    }

    @Test func positionsOfNoUseAreRefusedByAStatus() async throws {
        try await TestServer.with { server in
            // Given
            let old = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            async let waiting = server.request("GET", "/v1/shop/changes?since=\(old)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When
            let dropped = try await server.request("DELETE", "/v1/shop")
            let ended = try await waiting
            let late = try await server.request("GET", "/v1/shop/changes?since=\(old)")
            let new = try #require(dropped.cursor)
            let ahead = try await server.request("GET", "/v1/shop/changes?since=\(new.epoch)-99")
            let stream = try await server.request("GET", "/v1/shop/changes?since=\(old)", [("Accept", "text/event-stream")])
            // Then
            #expect(dropped.status == 200 && new.epoch != old.epoch)
            for reply in [ended, late, stream] {
                #expect(reply.status == 410 && reply.problem?.code == .epochChanged)
                #expect(reply.cursor == new)
            }
            #expect(ahead.status == 410 && ahead.problem?.code == .cursorAhead && ahead.cursor == new)
            #expect(try await server.request("DELETE", "/v1/shop").status == 404)
        }
    }

    @Test(arguments: [
        ("since=x", ProblemCode.invalidCursor), ("", .invalidCursor), ("since=0&wait=61", .invalidRequest),
        ("since=0&wait=-1", .invalidRequest),
        ("since=0&limit=0", .invalidRequest), ("since=0&limit=x", .invalidRequest), ("since=0&values=yes", .invalidRequest),
        ("since=0&collection=a%20b", .invalidKey),
    ])
    func badParametersAreNamed(query: String, code: ProblemCode) async throws {
        try await TestServer.with { server in
            let reply = try await server.request("GET", "/v1/shop/changes?\(query)")
            #expect(reply.status == 400 && reply.problem?.code == code)
            #expect(reply.statesPosition)
        }
    }

    @Test func unknownParametersArePassedOver() async throws {
        try await TestServer.with { server in
            let reply = try await server.request("GET", "/v1/shop/changes?since=now&color=red")
            #expect(reply.status == 200)
        }
    }

    @Test func aClientThatGoesLeavesNothingBehind() async throws {
        try await TestServer.with { server in
            // Given
            try await server.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=now&wait=0")
                let cursor = try connection.readReply().cursor?.description ?? ""
                try connection.sendRequest("GET", "/v1/shop/changes?since=\(cursor)&wait=60")
                let other = try RawConnection(port: server.port)
                while try other.request("GET", "/v1/shop").message(NamespaceStatus.self).waiting == 0 {}
            }
            // Then: the connection is closed by now
            try await server.waitUntil(waiting: 0, in: "shop")
        }
    }

    @Test func thoseWhoAskInTheSameBytesAreToldTheSameAndMayLeaveOneByOne() async throws {
        try await TestServer.with { server in
            try await server.thread { connection in
                // Given five clients that got the same answer, and ask again in the same bytes
                let put = { try connection.request("PUT", "/v1/shop/records/a/1", [("Content-Type", "application/json")], body: [0x31]) }
                var clients = try (0..<5).map { _ in try RawConnection(port: server.port) }
                func ask(_ cursor: String) throws {
                    for client in clients { try client.sendRequest("GET", "/v1/shop/changes?since=\(cursor)&wait=60") }
                }
                func wait(for count: Int) throws {
                    while try connection.request("GET", "/v1/shop").message(NamespaceStatus.self).waiting != count {}
                }
                try ask(try put().cursor?.description ?? "")
                try wait(for: 5)
                _ = try put()
                let first = try clients.map { try $0.readReply() }
                #expect(Set(first.map(\.text)).count == 1 && first[0].text.contains("\"revision\":2"))
                try ask(first[0].cursor?.description ?? "")
                try wait(for: 5)

                // When one closes its sending side and one disconnects
                clients[1].finish()
                clients.remove(at: 3)

                // Then the former gets the answer that there is nothing yet, and neither waits any more
                let left = try clients[1].readReply()
                #expect(left.status == 204 && left.cursor == first[0].cursor && left["Connection"] == "close")
                try wait(for: 3)
                // And the others get the next change
                _ = try put()
                for client in [clients[0], clients[2], clients[3]] { #expect(try client.readReply().text.contains("\"revision\":3")) }
                try wait(for: 0)
            }
        }
    }

    @Test func drainingAnswersThoseWhoWait() async throws {
        // Given
        let server = try TestServer()
        let cursor = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
        async let poll = server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60")
        async let stream = server.thread { connection in
            try connection.sendRequest("GET", "/v1/shop/changes?since=\(cursor)", [("Accept", "text/event-stream")])
            return try connection.readToEnd()
        }
        try await server.waitUntil(waiting: 2, in: "shop")
        // When
        await server.server.stop()
        // Then
        let reply = try await poll
        #expect(reply.status == 204 && reply.cursor == cursor && reply["Connection"] == "close")
        #expect(String(decoding: try await stream, as: UTF8.self).hasSuffix("0\r\n\r\n"))
    }
}
