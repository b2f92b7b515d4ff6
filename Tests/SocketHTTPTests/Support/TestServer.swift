import Dispatch
import HTTPTypes
import Logging
import Synchronization

@testable import SocketHTTP

/// A server on a free port, with routes that show what a test wants to see.
struct TestServer {
    let server: HTTPServer
    let port: Int
    /// The exchanges that `/park` has kept.
    let parked = Parked()

    init(limits: Limits = .patient, loops: Int = 1, onDrain: (@Sendable (Parked) -> Void)? = nil, adding: (inout Router) -> Void = { _ in })
        throws
    {
        var router = Router()
        let parked = parked
        TestServer.addRoutes(to: &router, parked)
        adding(&router)
        let configuration = HTTPServerConfiguration(loops: loops, limits: limits)
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
    /// A client that comes to its turn late, since other tests keep the machine busy, must not have lost its connection meanwhile.
    static let patient = Limits(headerTimeout: .seconds(120), bodyTimeout: .seconds(120), idleTimeout: .seconds(120))
}

/// Exchanges that wait, and tests that wait for them to come.
final class Parked: Sendable {
    private struct State {
        var exchanges: [Exchange] = []
        var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    func add(_ exchange: Exchange) {
        let ready: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.exchanges.append(exchange)
            guard let waiting = state.waiting, state.exchanges.count >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.continuation
        }
        ready?.resume()
    }

    /// Returns once `count` have come, and takes them.
    func take(_ count: Int) async -> [Exchange] {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.exchanges.count >= count { return true }
                state.waiting = (count, continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
        return takeAll()
    }

    func takeAll() -> [Exchange] {
        state.withLock { state in
            defer { state.exchanges = [] }
            return state.exchanges
        }
    }
}

/// Something that happens once, and tests that wait for it.
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
