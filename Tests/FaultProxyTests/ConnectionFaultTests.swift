import FreshetFaultProxy
import FreshetServer
import FreshetWire
import Testing

/// Faults and the connection that they match: what else is on it stays as it was.
@Suite("Faults on a connection", .timeLimit(.minutes(5)))
struct ConnectionFaultTests {
    private func arm(_ server: TestFaultServer, _ effect: FaultEffect, on target: FaultTarget = .any, times: Int? = 1) throws {
        server.server.arm(Fault(effect, on: target, times: times), in: try Namespace("shop"))
    }

    @Test func aConnectionGoesOnAfterAnAnswerOfAFault() async throws {
        try await TestFaultServer.with { server in
            // Given a fault that answers a request with a body, and requests behind it
            try arm(server, .answer(status: 503, retryAfter: 1))
            let replies = try await server.thread { connection in
                connection.send("PUT", "/v1/shop/records/c/1", [], "x")
                connection.send("PUT", "/v1/shop/records/c/1", [], "y")
                connection.send("GET", "/v1/shop/records/c/1")
                return [try connection.reply(), try connection.reply(), try connection.reply()]
            }
            // Then each has its answer
            #expect(replies.map(\.status) == [503, 201, 200] && replies[2].body == "y")
        }
    }

    @Test func anAnswerToHeadHasNoBodyAndTheLastOneEndsTheConnection() async throws {
        try await TestFaultServer.with { server in
            try arm(server, .answer(status: 500, retryAfter: 0), times: 2)
            let text = try await server.thread { connection in
                connection.send("HEAD", "/v1/shop/records/c/1")
                connection.send("HEAD", "/v1/shop/records/c/1", [("Connection", "close")])
                return connection.rest()
            }
            #expect(text.hasSuffix("Connection: close\r\n\r\n"))
            #expect(text.components("HTTP/1.1 500 ") == 2 && !text.contains("{"))
        }
    }

    @Test func whatEndsAConnectionWaitsForTheAnswersBefore() async throws {
        try await TestFaultServer.with { server in
            try await server.put("/v1/shop/records/c/1", "1")
            try arm(server, .dropReply, on: .writes)
            let text = try await server.thread { connection in
                connection.send("GET", "/v1/shop/records/c/1")
                connection.send("POST", "/v1/shop/writes", TestFaultServer.json, "{}")
                return connection.rest()
            }
            #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("\r\n\r\n1"))
        }
    }

    @Test(arguments: ["GET", "HEAD"]) func halfOfTheBodyOrOfTheHeadArrives(method: String) async throws {
        try await TestFaultServer.with { server in
            // Given a record of a hundred bytes
            let value = String(repeating: "x", count: 100)
            _ = try await server.request("PUT", "/v1/shop/records/c/1", [], value)
            try arm(server, .cutReply)
            // When
            let text = try await server.rest(method, "/v1/shop/records/c/1", [])
            // Then
            #expect(text.hasPrefix("HTTP/1.1 200 "))
            if method == "GET" {
                #expect(text.hasSuffix("\r\n\r\n" + value.prefix(50)))
            } else {
                #expect(!text.contains("\r\n\r\n"))
            }
        }
    }

    @Test func aPollThatIsSentTwiceIsAnsweredOnceAndWithoutAnExtraWait() async throws {
        try await TestFaultServer.with { server in
            // Given a poll that is sent twice, both of which wait
            let cursor = try await server.put("/v1/shop/records/c/1", "1").cursor
            try arm(server, .duplicate, on: .changes)
            async let poll = server.thread { connection in
                connection.send("GET", "/v1/shop/changes?since=\(cursor)&wait=60")
                let first = try connection.reply()
                connection.send("GET", "/v1/shop/records/c/2")
                return (first, try connection.reply())
            }
            try await server.waitUntil(waiting: 2, in: "shop")
            // When there is news
            try await server.put("/v1/shop/records/c/2", "2")
            // Then one answer comes, and then that of the next request
            let (news, record) = try await poll
            #expect(news.status == 200 && news.body.contains("c/2") && record.body == "2")
            try await server.waitUntil(waiting: 0, in: "shop")
        }
    }

    @Test func aDelayedAnswerComesWhenTheFaultsAreLifted() async throws {
        // Given a server that the proxy knows, and a write whose answer is delayed for longer than the test
        let server = try RecordServer.running()
        let injector = FaultInjector()
        let namespace = try Namespace("shop")
        let proxy = try FaultProxy(to: server.address?.port ?? 0, injector: injector)
        _ = injector.arm(Fault(.delayReply(milliseconds: 60_000)), in: namespace)
        async let late = connected(to: proxy.port) { connection in
            connection.send("PUT", "/v1/shop/records/c/1", [], "x")
            return try connection.reply()
        }
        // When the answer is held, and the faults are cleared
        while injector.heldCount == 0 { await Task.yield() }
        injector.clear(namespace)
        // Then it comes
        #expect(try await late.status == 201)
        await server.stop()
    }

    @Test func aFrozenRequestOfAClientThatGivesUpHasNoEffect() async throws {
        try await TestFaultServer.with { server in
            try arm(server, .freeze)
            let text = try await server.thread { connection in
                connection.send("PUT", "/v1/shop/records/c/1", [], "x")
                connection.finish()
                return connection.rest()
            }
            #expect(text.isEmpty)
            #expect(try await server.request("GET", "/v1/shop/records/c/1").status == 404)
        }
    }

    @Test("a client that reads no responses is read no further") func doesNotRead() async throws {
        try await TestFaultServer.with { server in
            // Given a fault that answers every request
            try arm(server, .answer(status: 503, retryAfter: 0), times: nil)
            let isRefused = try await connected(to: server.port) { connection in
                // When a client sends 32 MB of requests, and reads nothing
                let requests = Array(
                    String(repeating: "GET /v1/shop/records/c/1 HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 16_384).utf8)
                return (0..<32).contains { _ in !connection.sends(requests, within: 2) }
            }
            // Then the kernel's buffers fill up
            #expect(isRefused)
        }
    }

    @Test func aPreflightMeetsNoFault() async throws {
        try await TestFaultServer.with { server in
            try arm(server, .answer(status: 500, retryAfter: 0))
            #expect(try await server.request("OPTIONS", "/v1/shop/writes").status == 204)
            #expect(try await server.request("GET", "/v1/shop/records/c/1").status == 500)
        }
    }
}

extension String {
    /// How often the text occurs.
    fileprivate func components(_ text: String) -> Int { split(separator: text, omittingEmptySubsequences: false).count - 1 }
}
