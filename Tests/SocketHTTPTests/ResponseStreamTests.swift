import HTTPTypes
import Synchronization
import Testing

@testable import FreshetSocketHTTP

@Suite("Response stream")
struct ResponseStreamTests {
    private static func open(_ server: TestServer, _ request: String) async throws -> (Client, Exchange) {
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(request) }
        return (client, await server.parked.take(1)[0])
    }

    @Test("Each piece is a chunk, and the connection goes on after the end")
    func chunked() async throws {
        // Given a stream
        let server = try TestServer()
        let (client, exchange) = try await ResponseStreamTests.open(server, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        let stream = exchange.stream(status: .ok, fields: [.contentType: "text/event-stream"])
        let head = try await client.run { try $0.head() }
        #expect(head.contains("Transfer-Encoding: chunked"))
        #expect(head.contains("Content-Type: text/event-stream"))

        // When pieces are written, Then each arrives as it is
        #expect(stream.write(Array("one".utf8)))
        #expect(try await client.run { try $0.chunk() } == Array("one".utf8))
        #expect(stream.write([]))
        #expect(stream.write(Array("two".utf8)))
        #expect(try await client.run { try $0.chunk() } == Array("two".utf8))
        stream.finish()
        #expect(try await client.run { try $0.chunk() } == nil)
        #expect(!stream.write([1]))
        let status = try await client.run {
            $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            return try $0.reply().status
        }
        #expect(status == 200)
    }

    @Test("On HTTP/1.0 the end of the connection ends the body")
    func http10() async throws {
        let server = try TestServer()
        let (client, exchange) = try await ResponseStreamTests.open(server, "GET /park HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        let stream = exchange.stream(status: .ok)
        stream.write(Array("one".utf8))
        stream.finish()
        let reply = try await client.run { try $0.reply() }
        #expect(reply["Transfer-Encoding"] == nil)
        #expect(reply["Connection"] == "close")
        #expect(reply.text == "one")
    }

    @Test("HEAD gets the head alone")
    func head() async throws {
        let server = try TestServer()
        let (client, exchange) = try await ResponseStreamTests.open(server, "HEAD /park HTTP/1.1\r\nHost: x\r\n\r\n")
        let stream = exchange.stream(status: .ok)
        #expect(!stream.write([1]))
        let statuses = try await client.run {
            let first = try $0.reply(toHead: true).status
            $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            return [first, try $0.reply().status]
        }
        #expect(statuses == [200, 200])
    }

    @Test("A status without a body has no stream")
    func noContent() async throws {
        let server = try TestServer()
        let (client, exchange) = try await ResponseStreamTests.open(server, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(!exchange.stream(status: .noContent).write([1]))
        #expect(try await client.run { try $0.reply()["Transfer-Encoding"] } == nil)
    }

    @Test("A stream that is released closes without the last chunk")
    func abandoned() async throws {
        // Given a stream that has written
        let server = try TestServer()
        let (client, exchange) = try await ResponseStreamTests.open(server, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        var stream: ResponseStream? = exchange.stream(status: .ok)
        stream?.write(Array("one".utf8))

        // When its last copy is released, Then the client detects that the body is incomplete
        stream = nil
        _ = try await client.run { try $0.head() }
        #expect(try await client.run { try $0.chunk() } == Array("one".utf8))
        await #expect(throws: RawClient.Failure.ended) { try await client.run { try $0.chunk() } }
    }

    @Test("One piece reaches many streams of both kinds", arguments: [1, 2])
    func broadcast(loops: Int) async throws {
        // Given streams on HTTP/1.1 and HTTP/1.0
        let server = try TestServer(loops: loops)
        var clients: [Client] = []
        var streams: [ResponseStream] = []
        for index in 0..<10 {
            let request = index.isMultiple(of: 2) ? "GET /park HTTP/1.1\r\nHost: x\r\n\r\n" : "GET /park HTTP/1.0\r\n\r\n"
            let (client, exchange) = try await ResponseStreamTests.open(server, request)
            clients.append(client)
            streams.append(exchange.stream(status: .ok))
        }

        // When a piece is broadcast, Then each client gets it in the framing of its version
        ResponseStream.broadcast(to: streams, Array("news".utf8))
        ResponseStream.broadcast(to: streams, [])
        for stream in streams { stream.finish() }
        for client in clients { #expect(try await client.run { try $0.reply().text } == "news") }
    }

    @Test("A peer that goes away is noticed")
    func cancel() async throws {
        let server = try TestServer()
        let (client, exchange) = try await ResponseStreamTests.open(server, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        let stream = exchange.stream(status: .ok)
        let gone = Signal()
        stream.onCancel { gone.happen() }
        try await client.run { $0.reset() }
        await gone.wait()
        #expect(!stream.write([1]))
    }

    @Test("A peer that does not read is dropped, and the others are not")
    func slowReader() async throws {
        // Given a client that reads nothing, and small limits
        let server = try TestServer(limits: Limits(queuedBytes: 64 << 10))
        let slow = Client(try RawClient(port: server.port, receiveBuffer: 4096))
        try await slow.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
        let stream = await server.parked.take(1)[0].stream(status: .ok)
        let dropped = Signal()
        stream.onCancel { dropped.happen() }

        // When more is written than it and the kernel can hold
        let piece = [UInt8](repeating: 97, count: 16 << 10)
        let isDropped = try await blocking {
            for _ in 0..<100_000 where !stream.write(piece) { return true }
            return false
        }

        // Then it is dropped, and counted
        #expect(isDropped)
        await dropped.wait()
        #expect(server.server.statistics().slowReadersDropped == 1)
        let status = try await blocking {
            let client = try RawClient(port: server.port)
            client.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            return try client.reply().status
        }
        #expect(status == 200)
    }

    @Test("A piece far above the limit reaches a peer that reads, and the stream goes on", arguments: [false, true], [false, true])
    func largePiece(isBroadcast: Bool, isEncrypted: Bool) async throws {
        // Given a stream
        let limits = Limits(writeTimeout: .seconds(120), queuedBytes: 64 << 10)
        let server = try TestServer(limits: limits, layers: isEncrypted ? PlainLayers() : nil)
        let (client, exchange) = try await ResponseStreamTests.open(server, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        let stream = exchange.stream(status: .ok)
        _ = try await client.run { try $0.head() }

        // When a piece of many times the limit is written, and another once it is sent
        for piece in [[UInt8](repeating: 97, count: 8 << 20), Array("more".utf8)] {
            if isBroadcast { ResponseStream.broadcast(to: [stream], piece) } else { #expect(stream.write(piece)) }

            // Then each arrives whole
            let isWhole = try await client.run { try $0.chunk() == piece }
            #expect(isWhole)
            let drained = Signal()
            stream.onWritable(below: 0) { drained.happen() }
            await drained.wait()
        }
        #expect(stream.unsentBytes == 0)
        #expect(server.server.statistics().slowReadersDropped == 0)
        stream.finish()
    }

    @Test("A peer that does not read is dropped at the piece after the one that exceeds the limit")
    func nextPiece() async throws {
        // Given a client that reads nothing
        let server = try TestServer(limits: Limits(writeTimeout: .seconds(120), queuedBytes: 64 << 10))
        let slow = Client(try RawClient(port: server.port, receiveBuffer: 4096))
        try await slow.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
        let exchange = await server.parked.take(1)[0]
        let stream = exchange.stream(status: .ok)
        let dropped = Signal()
        stream.onCancel { dropped.happen() }

        // When a piece is written that neither it nor the kernel can hold, Then it is not dropped for that
        #expect(stream.write([UInt8](repeating: 97, count: 16 << 20)))
        let handled = Signal()
        exchange.handle.connection.loop.post(.perform { _ in handled.happen() })
        await handled.wait()
        #expect(!dropped.hasHappened)
        #expect(server.server.statistics().slowReadersDropped == 0)

        // When the next piece is written, Then it is
        #expect(!stream.write(Array("more".utf8)))
        await dropped.wait()
        #expect(server.server.statistics().slowReadersDropped == 1)
    }

    @Test("A piece counts as unsent while it is being sent")
    func unsentWhileSending() async throws {
        // Given a stream whose unsent bytes are noted whenever the loop sends some
        let (watched, seen) = (Watched(), Held<Int>())
        let layers = PlainLayers { if let unsent = watched.stream.withLock({ $0?.unsentBytes }) { seen.add(unsent) } }
        let server = try TestServer(layers: layers)
        let (client, exchange) = try await ResponseStreamTests.open(server, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        let stream = exchange.stream(status: .ok)
        _ = try await client.run { try $0.head() }
        watched.stream.withLock { $0 = stream }

        // When a piece is written
        let piece = [UInt8](repeating: 97, count: 100_000)
        #expect(stream.write(piece))
        let isWhole = try await client.run { try $0.chunk() == piece }
        watched.stream.withLock { $0 = nil }

        // Then all of it counted while its first bytes were sent
        #expect(isWhole)
        let first = try #require(seen.takeAll().first)
        #expect(first >= piece.count)
        stream.finish()
    }

    /// A stream whose client reads nothing, with far more unsent bytes than the kernel accepts later: its send buffer may
    /// still grow to some megabytes.
    private static func stuck(_ server: TestServer) async throws -> (Client, ResponseStream) {
        let client = Client(try RawClient(port: server.port, receiveBuffer: 4096))
        try await client.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
        let stream = await server.parked.take(1)[0].stream(status: .ok)
        let piece = [UInt8](repeating: 97, count: 1 << 20)
        while stream.unsentBytes < 16 * piece.count {
            #expect(stream.write(piece))
            // The loop has given the kernel as many bytes as it accepts.
            let written = Signal()
            stream.onWritable(below: .max) { written.happen() }
            await written.wait()
        }
        return (client, stream)
    }

    @Test("A writer is called once its peer has taken enough, and not while it takes nothing")
    func writable() async throws {
        // Given a stuck reader, and two writers that wait, one with a higher limit
        let server = try TestServer(limits: Limits(writeTimeout: .seconds(600), queuedBytes: 64 << 20))
        let (client, stream) = try await Self.stuck(server)
        let calls = Held<String>()
        stream.onWritable(below: 1000) { calls.add("nearly empty") }
        stream.onWritable(below: stream.unsentBytes + 1) { calls.add("now") }

        // Then the one whose limit is met is called at once, the other not
        #expect(await calls.take(1) == ["now"])
        let written = 10
        for _ in 0..<written { stream.write([UInt8](repeating: 98, count: 1000)) }
        #expect(calls.takeAll().isEmpty)

        // When the peer reads, Then the other is called, once
        _ = try await client.run { try $0.head() }
        stream.write(Array("end".utf8))
        stream.finish()
        try await client.run { client in while let chunk = try client.chunk(), chunk != Array("end".utf8) {} }
        #expect(await calls.take(1) == ["nearly empty"])
        #expect(calls.takeAll().isEmpty)
    }

    @Test("A writer that waits is released when its peer disconnects")
    func writableAfterClose() async throws {
        // Given a stuck reader, and a writer that waits and holds something
        let server = try TestServer(limits: Limits(writeTimeout: .seconds(600), queuedBytes: 64 << 20))
        let (client, stream) = try await Self.stuck(server)
        let released = Signal()
        let called = Signal()
        stream.onWritable(below: 0) { [holder = Releaser(released)] in
            _ = holder
            called.happen()
        }
        // When the peer resets the connection, Then the writer is released without a call
        try await client.run { $0.reset() }
        await released.wait()
        #expect(!called.hasHappened)
    }
}

/// The stream that a closure looks at, which is made before the stream.
private final class Watched: Sendable {
    let stream = Mutex<ResponseStream?>(nil)
}

/// Reports its own release.
private final class Releaser: Sendable {
    private let signal: Signal

    init(_ signal: Signal) { self.signal = signal }

    deinit { signal.happen() }
}
