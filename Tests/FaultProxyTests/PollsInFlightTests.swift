import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

/// Faults that are armed after a poll was passed on, and before the server has answered it or registered it as a waiter.
@Suite("Faults and polls in flight", .timeLimit(.minutes(5)))
struct PollsInFlightTests {
    private static let poll = "/v1/shop/changes?since=e-1&wait=60"
    private static let noNews = "HTTP/1.1 204 No Content\r\n\r\n"

    private let injector = FaultInjector()
    private let proxy: FaultProxy
    /// The connections that the server has read a request from.
    private let requests: AsyncStream<Int32>

    /// A server that reads requests, and leaves the responses to the test.
    init() throws {
        let (descriptor, port) = Sockets.listen()
        let (requests, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.requests = requests
        Sockets.thread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Sockets.thread { if !Sockets.read(connection).isEmpty { continuation.yield(connection) } }
            }
        }
        proxy = try FaultProxy(to: Int(port), injector: injector)
    }

    private func arm(_ effect: FaultEffect, on target: FaultTarget = .changes, device: String? = nil) throws {
        _ = injector.arm(Fault(effect, on: target, device: device), in: try Namespace("shop"))
    }

    @Test("a poll that the server has not answered is answered by the fault", arguments: [FaultTarget.changes, .any])
    func answered(target: FaultTarget) async throws {
        // Given
        async let reply = connected(to: proxy.port) { connection in
            connection.send("GET", Self.poll)
            return try connection.reply()
        }
        for await _ in requests { break }
        // When
        try arm(.answer(status: 503, retryAfter: 0), on: target)
        // Then
        #expect(try await reply.status == 503)
        #expect(injector.armed(in: try Namespace("shop")).map(\.matchCount) == [1])
    }

    @Test("the connection of a poll ends in place of its response, or after half of it", arguments: [FaultEffect.dropReply, .cutReply])
    func lost(effect: FaultEffect) async throws {
        // Given
        async let text = connected(to: proxy.port) { connection in
            connection.send("GET", Self.poll)
            return connection.rest()
        }
        var arrivals = requests.makeAsyncIterator()
        let connection = try #require(await arrivals.next())
        // When
        try arm(effect)
        Sockets.write(connection, Array(Self.noNews.utf8))
        // Then
        let half = String(decoding: Self.noNews.utf8.prefix(Self.noNews.utf8.count / 2), as: UTF8.self)
        #expect(try await text == (effect == .dropReply ? "" : half))
    }

    @Test("a poll that is sent twice arrives again at the server, twice")
    func duplicated() async throws {
        // Given
        async let reply = connected(to: proxy.port) { connection in
            connection.send("GET", Self.poll)
            return try connection.reply()
        }
        var arrivals = requests.makeAsyncIterator()
        let first = try #require(await arrivals.next())
        // When
        try arm(.duplicate)
        // Then
        #expect(Sockets.read(first).isEmpty)
        for _ in 1...2 { Sockets.write(try #require(await arrivals.next()), Array(Self.noNews.utf8)) }
        #expect(try await reply.status == 204)
    }

    @Test(
        "other polls and other requests stay as they are",
        arguments: [
            (Self.poll, FaultTarget.changes, "phone"), (Self.poll, .writes, nil), ("/v1/other/changes?since=e-1&wait=60", .any, nil),
            ("/v1/shop/records/c/1", .any, nil),
        ] as [(String, FaultTarget, String?)])
    func others(path: String, target: FaultTarget, device: String?) async throws {
        // Given
        async let reply = connected(to: proxy.port) { connection in
            connection.send("GET", path, [("Authorization", "Bearer laptop.1")])
            return try connection.reply()
        }
        var arrivals = requests.makeAsyncIterator()
        let connection = try #require(await arrivals.next())
        // When
        try arm(.answer(status: 503, retryAfter: 0), on: target, device: device)
        Sockets.write(connection, Array(Self.noNews.utf8))
        // Then
        #expect(try await reply.status == 204)
        #expect(injector.armed(in: try Namespace("shop")).map(\.matchCount) == [0])
    }
}
