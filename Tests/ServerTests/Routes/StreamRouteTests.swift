import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Server-sent events", .overBothStores) struct StreamRouteTests {
    /// An event as a reader takes it apart (WHATWG HTML §9.2.6).
    private struct Event {
        var id = ""
        var name = ""
        var data: [String] = []

        init(_ text: String) {
            for line in text.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
                if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { data.append(String(line.dropFirst(6))) }
            }
        }

        func page() throws -> ChangePage { try ChangePage(json: Array(data.joined(separator: "\n").utf8)) }
    }

    private let accept = [("Accept", "text/event-stream")]

    private func event(_ connection: RawConnection) throws -> Event {
        Event(String(decoding: try connection.readChunk(), as: UTF8.self))
    }

    @Test func eventsComeAsTheyHappenAndResume() async throws {
        try await TestServer.with { server in
            // Given
            let path = "/v1/shop/records/fruits/apple"
            try await server.put(path, "1")
            // When
            let (head, first, second) = try await server.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=0&collection=fruits", accept)
                let head = try connection.readHead()
                let first = try event(connection)
                let writer = try RawConnection(port: server.port)
                _ = try writer.request("PUT", "/v1/shop/records/nuts/almond", [], body: [1])
                _ = try writer.request(
                    "PUT", path, [("Content-Type", "application/json")], body: Array("{\r\n\"price\":\n[1,\r2]}".utf8))
                return (head, first, try event(connection))
            }
            let resumed = try await server.thread { connection in
                let fields = accept + [("Last-Event-ID", first.id)]
                try connection.sendRequest("GET", "/v1/shop/changes?since=0&collection=fruits", fields)
                _ = try connection.readHead()
                return try event(connection)
            }
            // Then
            #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
            #expect(head["X-Accel-Buffering"] == "no" && head["Cache-Control"] == "no-store" && head.cursor != nil)
            #expect(head["X-Content-Type-Options"] == "nosniff")
            #expect(first.name == "changes")
            #expect(try first.page().changes.map(\.revision.number) == [1])
            #expect(try first.page().cursor.description == first.id)
            #expect(try second.page().changes.map(\.revision.number) == [3])
            #expect(second.data.count > 1)
            #expect(try resumed.page() == second.page())
            try await server.waitUntil(waiting: 0, in: "shop")
        }
    }

    @Test func aLongHistoryComesAtTheReadersPace() async throws {
        try await TestServer.with { server in
            // Given: some 8 MB, far more than a slow reader may leave unread.
            let value = "\"" + String(repeating: "x", count: 40_000) + "\""
            try await server.thread { connection in
                for number in 0..<200 {
                    _ = try connection.request(
                        "PUT", "/v1/shop/records/c/\(number)", [("Content-Type", "application/json")], body: Array(value.utf8))
                }
            }
            // When
            let revisions = try await server.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=0", accept)
                _ = try connection.readHead()
                var revisions: [Int64] = []
                while revisions.count < 200 { revisions += try event(connection).page().changes.map(\.revision.number) }
                return revisions
            }
            // Then
            #expect(revisions == Array(1...200))
        }
    }

    @Test func nowBeginsWithThePosition() async throws {
        try await TestServer.with { server in
            // Given
            let cursor = try await server.put("/v1/shop/records/fruits/apple", "1").cursor
            // When
            let first = try await server.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=now", accept)
                _ = try connection.readHead()
                return try event(connection)
            }
            // Then
            #expect(try first.page() == ChangePage(changes: [], cursor: cursor, upToDate: true))
            let bad = try await server.request("GET", "/v1/shop/changes?since=now", accept + [("Last-Event-ID", "x")])
            #expect(bad.status == 400 && bad.problem?.code == .invalidCursor)
        }
    }

    @Test func silenceIsBrokenByCommentsThatCarryThePosition() {
        // Given
        let cursor = FeedSupport.cursor(7)
        // Then
        #expect(String(decoding: EventStream.keepAlive(at: cursor), as: UTF8.self) == ": \nid: \(cursor)\n\n")
    }
}
