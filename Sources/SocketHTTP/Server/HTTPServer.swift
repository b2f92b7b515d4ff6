import Dispatch
internal import FreshetPlatform
public import Logging
import Synchronization

/// An HTTP/1.1 server: it accepts connections, parses requests and gives them to its router's handlers.
///
/// ```swift
/// var router = Router()
/// router.on(.get, "/hello/{name}") { request, exchange in
///     exchange.respond(Response(status: .ok, body: Array("Hello, \(request.parameter("name"))\n".utf8)))
/// }
/// let server = HTTPServer(configuration: HTTPServerConfiguration(), router: router, logger: Logger(label: "hello"))
/// print(try server.start())
/// ```
///
/// Every member may be called from any thread.
public final class HTTPServer: Sendable {
    private enum State {
        case new
        case running(ServerContext)
        case draining(ServerContext, waiting: [CheckedContinuation<Void, Never>])
        case drained(HTTPServerStatistics)
    }

    private let configuration: HTTPServerConfiguration
    private let router: Router
    private let logger: Logger
    private let onDrain: @Sendable () -> Void
    private let state = Mutex(State.new)

    /// - Parameters:
    ///   - configuration: where and how to listen.
    ///   - router: what to answer.
    ///   - logger: receives messages for the operator; nothing is logged for each request.
    ///   - onDrain: called once when draining begins: the application answers waiting requests, and from then on lets
    ///     none wait. It is called where `drain` is, and must not block for long.
    public init(
        configuration: HTTPServerConfiguration,
        router: Router,
        logger: Logger,
        onDrain: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.router = router
        self.logger = logger
        self.onDrain = onDrain
    }

    /// Closes all connections at once if the server is released without draining.
    deinit {
        guard case .running(let context) = state.withLock({ $0 }) else { return }
        HTTPServer.closeAll(context)
    }

    /// Binds, listens and begins to accept; the address works as soon as this returns.
    ///
    /// - Throws: a `SocketHTTPError` that says how to fix the problem; `alreadyStarted` at a second call.
    @discardableResult
    public func start() throws(SocketHTTPError) -> BoundAddress { try startListening()[0] }

    /// As ``start()``.
    ///
    /// - Returns: the addresses of all listeners, in their order.
    package func startListening() throws(SocketHTTPError) -> [BoundAddress] {
        let isNew = state.withLock { if case .new = $0 { true } else { false } }
        guard isNew else { throw .alreadyStarted }
        let listeners = configuration.listeners
        var sockets: [ListeningSocket] = []
        let loops: [EventLoop]
        do throws(SocketHTTPError) {
            for listener in listeners { sockets.append(try ListeningSocket(listener.place, backlog: configuration.backlog)) }
            loops = try EventLoopPool.take(max(1, configuration.loops))
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
        let context = ServerContext(
            router, configuration.limits, logger, loops, layers: listeners.map(\.layers), crossOrigin: configuration.crossOrigin
        ) { [weak self] in self?.drained() }
        let hasStarted = state.withLock { state in
            guard case .new = state else { return false }
            state = .running(context)
            return true
        }
        guard hasStarted else {
            for socket in sockets { socket.close() }
            EventLoopPool.giveBack(loops)
            throw .alreadyStarted
        }
        let room = DescriptorLimit.room(within: DescriptorLimit.current)
        let acceptors = zip(sockets, listeners).map { socket, listener in
            Acceptor(socket, AcceptPolicy(limit: configuration.limits.connections, hasReserve: listener.hasReserve, room: room))
        }
        // The loop that accepts comes last: it hands connections to loops that must be at work by then.
        for (index, loop) in loops.enumerated().reversed() {
            let own = index == 0 ? acceptors : []
            loop.post(.perform { loop in loop.attach(context, context.counters[index], own) })
        }
        warnOfLowDescriptorLimit()
        return zip(sockets, listeners).map { socket, listener in
            var address = socket.address
            address.isEncrypted = listener.layers != nil
            return address
        }
    }

    /// Stops accepting, answers the requests in flight with `Connection: close`, and closes.
    ///
    /// The steps: the listener closes and idle connections with it; `onDrain` is called; requests in flight are
    /// finished; the connections that remain after `limit` are closed as they are. Calling it again waits for the same
    /// end.
    ///
    /// - Parameter limit: how long to wait for requests in flight; by default the configuration's `drainTimeout`.
    public func drain(within limit: Duration? = nil) async {
        let begun: ServerContext? = state.withLock { state in
            guard case .running(let context) = state else { return nil }
            state = .draining(context, waiting: [])
            return context
        }
        if let context = begun {
            for loop in context.loops { loop.post(.perform { $0.beginDraining(context) }) }
            onDrain()
            let nanoseconds = max(0, (limit ?? configuration.drainTimeout).clampedNanoseconds)
            let deadline = DispatchTime.now() + .nanoseconds(Int(clamping: nanoseconds))
            DispatchQueue.global().asyncAfter(deadline: deadline) { HTTPServer.closeAll(context) }
        }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard case .draining(let context, let waiting) = state else { return true }
                state = .draining(context, waiting: waiting + [continuation])
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Counts since the start.
    public func statistics() -> HTTPServerStatistics {
        switch state.withLock({ $0 }) {
        case .new: HTTPServerStatistics()
        case .running(let context), .draining(let context, _): context.statistics
        case .drained(let statistics): statistics
        }
    }

    private func drained() {
        let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
            guard case .draining(let context, let waiting) = state else { return [] }
            state = .drained(context.statistics)
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private static func closeAll(_ context: ServerContext) {
        for loop in context.loops { loop.post(.perform { $0.closeAll(context) }) }
    }

    private func warnOfLowDescriptorLimit() {
        guard let shortage = DescriptorLimit.shortage(limit: DescriptorLimit.current, connections: configuration.limits.connections) else {
            return
        }
        logger.warning("\(shortage)")
    }
}

extension EventLoop {
    /// Puts the loop to work for a server.
    fileprivate func attach(_ context: ServerContext, _ counters: LoopCounters, _ acceptors: [Acceptor]) {
        self.context = context
        self.counters = counters
        if !startAccepting(acceptors) { context.logger.error("a listener cannot be watched: out of memory") }
    }
}
