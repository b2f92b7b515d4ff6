import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

/// The proxy without a fault: as if it were not there.
@Suite("A proxy without faults", .timeLimit(.minutes(5)))
struct PassThroughTests {
    /// A server that sends fixed bytes to the first request of each connection, and keeps what it gets.
    private func origin(_ answer: String, closes: Bool = false, then: @escaping @Sendable (Int32) -> Void = { close($0) }) -> Int {
        let (descriptor, port) = Sockets.listen()
        Sockets.thread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Sockets.thread {
                    guard !Sockets.read(connection).isEmpty else { return then(connection) }
                    Sockets.write(connection, Array(answer.utf8))
                    if !closes { _ = Sockets.read(connection) }
                    then(connection)
                }
            }
        }
        return Int(port)
    }

    @Test(
        arguments: [
            ("GET", "HTTP/1.1 200 OK\r\nX-odd:  kept \r\ncontent-LENGTH: 3\r\n\r\nabc"),
            ("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n0\r\nTrailer: x\r\n\r\n"),
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"),
            ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
            ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n"),
            ("GET", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ])
    func theBytesOfAResponseAreThoseOfTheServer(method: String, answer: String) async throws {
        // Given
        let proxy = try FaultProxy(to: origin(answer))
        // When
        let text = try await connected(to: proxy.port) { connection in
            connection.send(method, "/")
            return try connection.read(count: answer.utf8.count)
        }
        // Then
        #expect(text == answer)
    }

    @Test func aResponseThatLastsUntilTheEndOfItsConnectionEndsTheClientsToo() async throws {
        let answer = "HTTP/1.1 200 OK\r\n\r\nabc"
        let proxy = try FaultProxy(to: origin(answer, closes: true))
        let text = try await connected(to: proxy.port) { connection in
            connection.send("GET", "/")
            return connection.rest()
        }
        #expect(text == answer)
    }

    @Test func aConnectionServesManyRequestsAlsoThoseThatComeAtOnce() async throws {
        try await TestFaultServer.with { server in
            let statuses = try await server.thread { connection in
                // A body of chunks, one of a length, a pipelined HEAD without a body, and a 204
                connection.send(
                    "PUT /v1/shop/records/c/1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
                )
                connection.send("PUT", "/v1/shop/records/c/2", [], "two")
                connection.send("HEAD", "/v1/shop/records/c/1")
                connection.send("GET", "/v1/shop/records/c/1")
                var replies = [try connection.reply(), try connection.reply()]
                replies.append(try connection.reply(isHead: true))
                replies.append(try connection.reply())
                return replies
            }
            #expect(statuses.map(\.status) == [201, 201, 200, 200])
            #expect(statuses[2]["Content-Length"] == "3" && statuses[3].body == "abc")
        }
    }

    @Test func aLargeBodyWithAnExpectationPassesInBothDirections() async throws {
        try await TestFaultServer.with { server in
            let value = String(repeating: "0123456789abcdef", count: 256 << 10)
            let (interim, reply, read) = try await server.thread { connection in
                connection.send(
                    "PUT /v1/shop/records/c/1 HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: \(value.utf8.count)\r\n\r\n"
                )
                let interim = try connection.read(through: "\r\n\r\n")
                connection.send(value)
                let reply = try connection.reply()
                connection.send("GET", "/v1/shop/records/c/1")
                return (interim, reply, try connection.reply())
            }
            #expect(interim == "HTTP/1.1 100 Continue\r\n\r\n" && reply.status == 201)
            let isWhole = read.body == value
            #expect(isWhole)
        }
    }

    @Test func theServerRefusesWhatIsNoRequest() async throws {
        var configuration = RecordServerConfiguration()
        configuration.bodyBytes = 1_000
        try await TestFaultServer.with(configuration) { server in
            for (request, status) in [
                ("GET /v1/shop HTTP/1.1\r\n\r\n", "400"), ("nonsense\r\n\r\n", "400"),
                ("PUT /v1/shop/records/c/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n", "413"),
            ] {
                let text = try await server.thread { connection in
                    connection.send(request)
                    return connection.rest()
                }
                #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(request)")
            }
        }
    }

    @Test func aStreamPassesEventByEvent() async throws {
        try await TestFaultServer.with { server in
            let cursor = try await server.put("/v1/shop/records/c/1", "1").cursor
            async let stream = server.thread { connection in
                connection.send("GET", "/v1/shop/changes?since=\(cursor)", [("Accept", "text/event-stream")])
                _ = try connection.read(through: "\r\n\r\n")
                return try connection.read(through: #""key":"c/2""#)
            }
            try await server.waitUntil(waiting: 1, in: "shop")
            try await server.put("/v1/shop/records/c/2", "2")
            #expect(try await !stream.isEmpty)
        }
    }

    @Test(arguments: [false, true]) func aPollOfAClientThatDisconnectsEndsAtTheServer(isReset: Bool) async throws {
        try await TestFaultServer.with { server in
            // Given a poll that waits
            let cursor = try await server.put("/v1/shop/records/c/1", "1").cursor
            let (mayEnd, end) = AsyncStream.makeStream(of: Void.self)
            let ended = Task {
                let descriptor = try #require(Sockets.connect(port: UInt16(server.port)))
                Sockets.write(descriptor, "GET /v1/shop/changes?since=\(cursor)&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                for await _ in mayEnd { break }
                if isReset { Sockets.reset(descriptor) } else { close(descriptor) }
            }
            try await server.waitUntil(waiting: 1, in: "shop")
            // When its client disconnects
            end.yield()
            try await ended.value
            // Then no reader waits in the server
            try await server.waitUntil(waiting: 0, in: "shop")
        }
    }

    @Test func aClientThatEndsItsInputGetsItsAnswer() async throws {
        try await TestFaultServer.with { server in
            let text = try await server.thread { connection in
                connection.send("GET", "/healthz")
                connection.finish()
                return connection.rest()
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix(#"{"status":"ok"}"#))
        }
    }

    @Test func aServerThatIsAwayEndsTheConnection() async throws {
        let (descriptor, port) = Sockets.bound()
        defer { close(descriptor) }
        let proxy = try FaultProxy(to: Int(port))
        let text = try await connected(to: proxy.port) { connection in
            connection.send("GET", "/")
            return connection.rest()
        }
        #expect(text.isEmpty)
    }

    @Test func aSlowClientGetsALargeResponseWhole() async throws {
        // Given a response larger than all buffers between, and a client that has not read any of it while another is served
        try await TestFaultServer.with { server in
            let value = String(repeating: "x", count: 12 << 20)
            _ = try await server.request("PUT", "/v1/shop/records/c/1", [], value)
            let port = server.port
            let length = try await server.thread { connection in
                connection.send("GET", "/v1/shop/records/c/1")
                _ = try connection.read(through: "\r\n\r\n")
                let other = try HTTPConnection(port: port)
                other.send("GET", "/healthz")
                _ = try other.reply()
                return try connection.read(count: value.utf8.count).utf8.count
            }
            #expect(length == value.utf8.count)
        }
    }
}
