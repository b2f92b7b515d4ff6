import Dispatch
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import FreshetSocketHTTP

/// A server on a free port, with a route for each behaviour that tests need.
struct TestServer {
    let server: HTTPServer
    let port: Int
    /// The exchanges that `/park` has kept.
    let parked = Parked()

    init(
        limits: Limits = .patient, loops: Int = 1, layers: (any ByteLayerSource)? = nil, onDrain: (@Sendable (Parked) -> Void)? = nil,
        adding: (inout Router) -> Void = { _ in }
    ) throws {
        var router = Router()
        let parked = parked
        TestServer.addRoutes(to: &router, parked)
        adding(&router)
        var configuration = HTTPServerConfiguration(loops: loops, limits: limits)
        configuration.layers = layers
        server = HTTPServer(configuration: configuration, router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {
            onDrain?(parked)
        }
        port = try server.start().port
    }

    private static func addRoutes(to router: inout Router, _ parked: Parked) {
        router.on(.get, "/ok") { _, exchange in exchange.respond(.text("ok")) }
        router.on(.get, "/") { _, exchange in exchange.respond(.text("root")) }
        router.on(.post, "/echo") { request, exchange in exchange.respond(Response(status: .ok, body: request.body)) }
        router.on(.get, "/empty") { _, exchange in exchange.respond(Response(status: .noContent, body: [1])) }
        router.on(.get, "/unchanged") { _, exchange in exchange.respond(Response(status: .notModified, body: [1])) }
        router.on(.get, "/drop") { _, _ in }
        router.on(.get, "/encoded") { _, exchange in exchange.respond(EncodedResponse(.text("encoded"))) }
        router.on(.get, "/records/{collection}/{id}") { request, exchange in
            exchange.respond(.text("\(request.parameter("collection")) \(request.parameter("id"))"))
        }
        router.on(.get, "/query") { request, exchange in exchange.respond(.text(request.query["q"] ?? "none")) }
        router.on(.get, "/field") { request, exchange in exchange.respond(.text(request[.accept] ?? "none")) }
        router.on(.get, "/peer") { request, exchange in exchange.respond(.text(request.remoteAddress)) }
        router.on(.get, "/later") { _, exchange in
            DispatchQueue.global().async { exchange.respond(.text("later")) }
        }
        router.on(.get, "/park") { _, exchange in parked.add(exchange) }
    }
}

extension Limits {
    /// A client that is scheduled late, since other tests keep the machine busy, must not lose its connection
    /// meanwhile.
    static let patient = Limits(headerTimeout: .seconds(120), bodyTimeout: .seconds(120), idleTimeout: .seconds(120))
}

/// Exchanges that wait, and tests that wait for them to arrive.
typealias Parked = Held<Exchange>

/// Objects that handlers keep, and tests that wait for them to arrive.
final class Held<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    func add(_ element: Element) {
        let ready: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.elements.append(element)
            guard let waiting = state.waiting, state.elements.count >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.continuation
        }
        ready?.resume()
    }

    /// Returns once `wanted` have arrived, and takes them.
    func take(_ wanted: Int) async -> [Element] {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.elements.count >= wanted { return true }
                state.waiting = (wanted, continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
        return takeAll()
    }

    func takeAll() -> [Element] {
        state.withLock { state in
            defer { state.elements = [] }
            return state.elements
        }
    }
}

/// A server whose one loop does nothing between ``hold()`` and ``open()``: a handler holds it up, and its client is
/// answered afterwards.
struct HeldServer {
    let server: TestServer
    private let holder: Client
    private let gate = DispatchSemaphore(value: 0)
    private let holds = Held<EventLoop>()

    init(adding: (inout Router) -> Void = { _ in }) throws {
        server = try TestServer(adding: { [holds, gate] router in
            router.on(.get, "/hold") { _, exchange in
                holds.add(exchange.handle.connection.loop)
                gate.wait()
                exchange.respond(.text("held"))
            }
            adding(&router)
        })
        holder = Client(try RawClient(port: server.port))
    }

    /// The loop, which touches nothing at present.
    @discardableResult
    func hold() async throws -> EventLoop {
        try await holder.run { $0.send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n") }
        return await holds.take(1)[0]
    }

    func open() async throws {
        gate.signal()
        #expect(try await holder.run { try $0.reply().text } == "held")
    }
}

/// An event that happens once, and tests that wait for it.
final class Signal: Sendable {
    private struct State {
        var hasHappened = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var hasHappened: Bool { state.withLock { $0.hasHappened } }

    func happen() {
        let waiting = state.withLock { state in
            state.hasHappened = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasHappened { state.waiting.append(continuation) }
                return state.hasHappened
            }
            if isOver { continuation.resume() }
        }
    }
}

extension Response {
    static func text(_ text: String) -> Response {
        Response(status: .ok, fields: [.contentType: "text/plain"], body: Array(text.utf8))
    }
}
