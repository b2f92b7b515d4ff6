import HTTPTypes
import Testing

@testable import SocketHTTP

@Suite("Time-outs")
struct TimeoutTests {
    /// For a time-out that a client has to be quicker than: long enough for one that waits for a processor.
    private static let roomy = Duration.seconds(2)

    /// What a client sees that sends these bytes and waits.
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
    }

    @Test("The second request has its time too")
    func secondHead() async throws {
        let limits = Limits(headerTimeout: TimeoutTests.roomy)
        #expect(try await TimeoutTests.outcome(limits, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\nGET") == [200, 408])
    }

    @Test("A connection in use is not idle, and each head has a time of its own")
    func active() async throws {
        // Given short time-outs
        let limits = Limits(headerTimeout: TimeoutTests.roomy, idleTimeout: TimeoutTests.roomy)
        let server = try TestServer(limits: limits)

        // When requests go on for longer than those, the end of each sent with the beginning of the next, Then all are answered
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
        // Given time-outs that are all alike, and a request that waits
        let roomy = TimeoutTests.roomy
        let limits = Limits(headerTimeout: roomy, bodyTimeout: roomy, idleTimeout: roomy)
        let server = try TestServer(limits: limits)
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
        let exchange = await server.parked.take(1)[0]

        // When another connection has timed out that came later, Then the first still gets its answer
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

        // When another connection that came later has timed out, which takes longer
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
}
