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
        Event(String(decoding: try connection.readEvent(), as: UTF8.self))
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
            #expect(second.data.count == 1)
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

    @Test func eachLineEndBetweenTokensBecomesASpace() throws {
        // Given a page with line ends of each kind between tokens, and others that a string escapes
        let value = "{\n\"a\":\r\n[1,\r2],\n\n\"b\":\"\\r\\n\"\r}"
        var encoder = PageEncoder(limit: 1, pageBytes: .max)
        encoder.append(try FeedSupport.put(7, "c/1", value).json)
        let page = encoder.page(at: FeedSupport.cursor(7), upToDate: true)
        // When
        let event = EventStream.encode(page)
        // Then the event has the bytes of the page but for these
        let expected: [UInt8] = page.body.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        #expect(event == Array("id: \(page.cursor)\nevent: changes\ndata: ".utf8) + expected + Array("\n\n".utf8))
        #expect(expected.filter { $0 == 0x20 }.count == page.body.filter { $0 == 0x0A || $0 == 0x0D }.count)
        // Then it is one line of the same JSON
        let read = Event(String(decoding: event, as: UTF8.self))
        #expect(read.data.count == 1)
        let change = try FeedSupport.put(7, "c/1", "{ \"a\":  [1, 2],  \"b\":\"\\r\\n\" }")
        #expect(try read.page().changes == [change])
    }

    @Test func aLargeValueOfLineEndsMakesNoLargerEvent() throws {
        // Given a page with a value of many line ends
        let value = "[" + String(repeating: "\n", count: 100_000) + "]"
        var encoder = PageEncoder(limit: 1, pageBytes: .max)
        encoder.append(try FeedSupport.put(7, "c/1", value).json)
        let page = encoder.page(at: FeedSupport.cursor(7), upToDate: true)
        // When
        let event = EventStream.encode(page)
        // Then only the lines around the page are added
        let frame = "id: \(page.cursor)\nevent: changes\ndata: \n\n".utf8.count
        #expect(event.count == page.body.count + frame)
        #expect(event.filter { $0 == 0x0A }.count == 4)
    }

    @Test func silenceIsBrokenByCommentsThatCarryThePosition() {
        // Given
        let cursor = FeedSupport.cursor(7)
        // Then
        #expect(String(decoding: EventStream.keepAlive(at: cursor), as: UTF8.self) == ": \nid: \(cursor)\n\n")
    }
}
