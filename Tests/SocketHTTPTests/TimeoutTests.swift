import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Time-outs")
struct TimeoutTests {
    /// A time-out that a client has to beat: long enough for one that waits for a processor.
    private static let roomy = Duration.seconds(6)

    /// The bytes that a client receives after it has sent these and waits.
    private static func outcome(_ limits: Limits, _ bytes: String) async throws -> [Int] {
        let server = try TestServer(limits: limits)
        let port = server.port
        return try await blocking {
            let client = try RawClient(port: port)
            client.send(bytes)
            var statuses: [Int] = []
            while true {
                do { statuses.append(try client.reply().status) } catch RawClient.Failure.ended { return statuses }
            }
        }
    }

    @Test("A head that does not come to its end is answered 408")
    func head() async throws {
        let limits = Limits(headerTimeout: TimeoutTests.roomy)
        #expect(try await TimeoutTests.outcome(limits, "GET /ok HTTP/1.1\r\nHost:") == [408])
    }

    @Test("A body that does not come to its end is answered 408")
    func body() async throws {
        let limits = Limits(bodyTimeout: .milliseconds(100))
        #expect(try await TimeoutTests.outcome(limits, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc") == [408])
    }

    @Test("A connection that never says anything is closed silently")
    func opening() async throws {
        #expect(try await TimeoutTests.outcome(Limits(headerTimeout: .milliseconds(100)), "") == [])
    }

    @Test("An idle connection is closed silently")
    func idle() async throws {
        let limits = Limits(idleTimeout: .milliseconds(100))
        #expect(try await TimeoutTests.outcome(limits, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n") == [200])
        #expect(try await TimeoutTests.outcome(limits, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n\r\n") == [200])
        #expect(try await TimeoutTests.outcome(limits, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n\r") == [200])
    }

    @Test("Empty lines do not prolong the time until the first request, however they are cut")
    func emptyLines() async throws {
        // Given a client that sends halves of empty lines, one at a time: another one's response comes in between
        let server = try TestServer(limits: Limits(headerTimeout: TimeoutTests.roomy))
        let isClosed = try await blocking { [port = server.port] in
            let client = try RawClient(port: port)
            let other = try RawClient(port: port)
            let clock = ContinuousClock()
            let end = clock.now + .seconds(60)
            // When it goes on for longer than the time-out, Then it is closed nevertheless
            while clock.now < end {
                for half in ["\r", "\n"] {
                    client.send(half)
                    other.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
                    guard try other.reply().status == 200 else { return false }
                }
                if server.server.statistics().connectionsOpen == 1 { return true }
            }
            return false
        }
        #expect(isClosed)
    }

    @Test("The second request has its time too")
    func secondHead() async throws {
        let limits = Limits(headerTimeout: TimeoutTests.roomy)
        #expect(try await TimeoutTests.outcome(limits, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\nGET") == [200, 408])
    }

    @Test("A connection in use is not idle, and each head has its own time")
    func active() async throws {
        // Given short time-outs
        let limits = Limits(headerTimeout: TimeoutTests.roomy, idleTimeout: TimeoutTests.roomy)
        let server = try TestServer(limits: limits)

        // When requests continue for longer than those, the end of each sent with the beginning of the next, Then all
        // are answered
        let isServed = try await blocking { [port = server.port] in
            let clock = ContinuousClock()
            let whole = try RawClient(port: port)
            let cut = try RawClient(port: port)
            let request = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
            cut.send("GE")
            let end = clock.now + TimeoutTests.roomy * 1.25
            while clock.now < end {
                whole.send(request)
                cut.send(String(request.dropFirst(2)) + "GE")
                guard try whole.reply().status == 200, try cut.reply().status == 200 else { return false }
            }
            return true
        }
        #expect(isServed)
    }

    @Test("A request that waits has all the time it needs")
    func parked() async throws {
        // Given equal time-outs, and a request that waits
        let roomy = TimeoutTests.roomy
        let limits = Limits(headerTimeout: roomy, bodyTimeout: roomy, idleTimeout: roomy)
        let server = try TestServer(limits: limits)
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
        let exchange = await server.parked.take(1)[0]

        // When a later connection has timed out, Then the first still gets its answer
        let status = try await blocking { [port = server.port] in
            let other = try RawClient(port: port)
            other.send("GET")
            return try other.reply().status
        }
        #expect(status == 408)
        #expect(exchange.respond(.text("late")))
        #expect(try await client.run { try $0.reply().text } == "late")
    }

    @Test("A peer that stops reading an answer is dropped")
    func write() async throws {
        // Given an answer larger than the kernel's buffers, and a client that reads none of it
        let body = [UInt8](repeating: 97, count: 32 << 20)
        let limits = Limits(headerTimeout: TimeoutTests.roomy, writeTimeout: .milliseconds(500))
        let server = try TestServer(
            limits: limits,
            adding: { router in
                router.on(.get, "/large") { _, exchange in exchange.respond(Response(status: .ok, body: body)) }
            })
        let client = Client(try RawClient(port: server.port, receiveBuffer: 4096))
        try await client.run { $0.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") }

        // When a later connection has timed out, which takes longer
        let status = try await blocking { [port = server.port] in
            let other = try RawClient(port: port)
            other.send("GET")
            return try other.reply().status
        }
        #expect(status == 408)

        // Then the first has been dropped in the middle of its answer
        await #expect(throws: RawClient.Failure.ended) { try await client.run { try $0.reply().status } }
        #expect(server.server.statistics().slowReadersDropped == 1)
    }

    @Test("A body that keeps to the lowest rate may take longer than a pause in it may last")
    func steadyBody() async throws {
        // Given a short time for pauses
        let server = try TestServer(limits: Limits(bodyTimeout: TimeoutTests.roomy, bodyRate: 1))
        // When a body comes piece by piece for longer than that, Then it is taken
        let reply = try await blocking { [port = server.port] in
            let client = try RawClient(port: port)
            let other = try RawClient(port: port)
            client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let clock = ContinuousClock()
            let end = clock.now + TimeoutTests.roomy * 1.5
            while clock.now < end {
                client.send("1\r\na\r\n")
                other.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
                guard try other.reply().status == 200 else { return RawClient.Reply() }
            }
            client.send("0\r\n\r\n")
            return try client.reply()
        }
        #expect(reply.status == 200 && !reply.body.isEmpty)
    }

    @Test("A body below the lowest rate is answered 408, however regularly its bytes come")
    func slowBody() async throws {
        // Given a rate that no client reaches
        let server = try TestServer(limits: Limits(bodyTimeout: .milliseconds(300), bodyRate: .max))
        // When bytes arrive all the time
        let reply = try await blocking { [port = server.port] in
            let client = try RawClient(port: port)
            let other = try RawClient(port: port)
            client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
            while server.server.statistics().requestsRefused == 0 {
                client.send("a")
                other.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try other.reply()
            }
            return try client.reply()
        }
        // Then the client receives the required rate
        #expect(reply.status == 408 && reply.text.contains("bytes a second"))
    }

    @Test("A peer that takes an answer below the lowest rate is dropped, however regularly it reads", arguments: [1, .max])
    func slowReader(rate: Int) async throws {
        // Given an answer larger than the kernel's buffers, and a client that reads all the time
        let body = [UInt8](repeating: 97, count: 32 << 20)
        let server = try TestServer(
            limits: Limits(writeTimeout: .seconds(1), writeRate: rate),
            adding: { router in
                router.on(.get, "/large") { _, exchange in exchange.respond(Response(status: .ok, body: body)) }
            })
        let isWhole = try await blocking { [port = server.port] in
            let client = try RawClient(port: port, receiveBuffer: 64 << 10)
            let other = try RawClient(port: port)
            client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            let clock = ContinuousClock()
            let start = clock.now
            let (lasts, half) = (Duration.seconds(2), Double(body.count / 2))
            var received = 0
            do {
                // It takes half of the answer in longer than a pause may last, however slow the rounds are.
                while clock.now < start + lasts {
                    let due = Int(half * ((clock.now - start) / lasts)) - received
                    if due > 0 { received += try client.bytes(min(60_000, due)).count }
                    other.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
                    _ = try other.reply()
                }
                while received < body.count { received += try client.bytes(min(60_000, body.count - received)).count }
                return true
            } catch let failure as RawClient.Failure where failure == .ended || failure == .reset {
                return false
            }
        }
        // Then only the lowest rate decides
        #expect(isWhole == (rate == 1))
        #expect(server.server.statistics().slowReadersDropped == (rate == 1 ? 0 : 1))
    }
}
