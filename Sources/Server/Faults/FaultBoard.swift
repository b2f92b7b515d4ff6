import Dispatch
import FreshetPlatform
import FreshetSocketHTTP
import FreshetWire
import HTTPTypes
import Synchronization

/// Strikes requests with the faults that tests have armed. Only a server that was started with test faults has a board.
final class FaultBoard: Sendable {
    /// A request that is frozen or delayed.
    private struct Held {
        var namespace: Namespace
        var resume: @Sendable () -> Void
    }

    private struct State {
        var plans: [Namespace: FaultPlan] = [:]
        var held: [Int: Held] = [:]
        var lastHeld = 0
        var isDraining = false
        var followers: [Namespace: Broadcast<Void>] = [:]
    }

    private let state = Mutex(State())

    // MARK: Faults

    func arm(_ fault: Fault, in namespace: Namespace) -> ArmedFault {
        defer { tell(namespace) }
        return state.withLock { $0.plans[namespace, default: FaultPlan()].arm(fault) }
    }

    func armed(in namespace: Namespace) -> [ArmedFault] { state.withLock { $0.plans[namespace]?.armed ?? [] } }

    /// Disarms all faults of a namespace: ends frozen requests, and handles delayed ones at once. Returns how many
    /// faults would still have struck.
    @discardableResult
    func lift(_ namespace: Namespace) -> Int {
        let (count, resumed) = state.withLock { state in
            let held = state.held.filter { $0.value.namespace == namespace }.sorted { $0.key < $1.key }
            for (number, _) in held { state.held[number] = nil }
            return (state.plans[namespace]?.lift() ?? 0, held.map(\.value.resume))
        }
        for resume in resumed { resume() }
        tell(namespace)
        return count
    }

    /// Removes the faults and followers of a namespace that is no longer used.
    func forget(_ namespace: Namespace) {
        lift(namespace)
        let followers = state.withLock { state in
            state.plans[namespace] = nil
            return state.followers.removeValue(forKey: namespace)
        }
        followers?.finish()
    }

    /// Resumes all held requests and holds no more, since the server stops.
    func drain() {
        let resumed = state.withLock { state in
            state.isDraining = true
            defer { state.held = [:] }
            return state.held.sorted { $0.key < $1.key }.map(\.value.resume)
        }
        for resume in resumed { resume() }
    }

    // MARK: Requests

    /// Handles a request, subject to the armed fault that strikes it, if any.
    func meet(_ context: RequestContext, _ handle: @escaping @Sendable (RequestContext) -> Void) {
        guard let target = FaultTarget(context.endpoint), let namespace = try? context.namespace() else { return handle(context) }
        let token = DeviceToken(context.request)
        guard let effect = state.withLock({ $0.plans[namespace, default: FaultPlan()].strike(target, token) }) else {
            return handle(context)
        }
        switch effect {
        case .dropRequest: context.passed(.nothing).abort()
        case .dropReply: handle(context.passed(.nothing))
        case .cutReply: handle(context.passed(.part))
        case .duplicate:
            handle(context.muted)
            handle(context)
        case .delayRequest(let milliseconds):
            hold(in: namespace, milliseconds) { handle(context) }
        case .delayReply(let milliseconds): handle(context.passed(.whole, after: .milliseconds(milliseconds)))
        case .answer(let status, let retryAfter): context.respondUnmarked(Self.answer(status, retryAfter))
        case .freeze:
            let dropped = context.passed(.nothing)
            let number = hold(in: namespace) { dropped.abort() }
            // The client has given up: the connection may close.
            dropped.exchange.onDisconnect { [weak self] in self?.resume(number) }
        case .expireToken: context.respondUnmarked(Self.expired(token))
        }
        tell(namespace)
    }

    @discardableResult
    private func hold(in namespace: Namespace, _ milliseconds: Int? = nil, _ resume: @escaping @Sendable () -> Void) -> Int {
        let number = state.withLock { state in
            state.lastHeld += 1
            if !state.isDraining { state.held[state.lastHeld] = Held(namespace: namespace, resume: resume) }
            return state.isDraining ? nil : state.lastHeld
        }
        guard let number else {
            resume()
            return 0
        }
        if let milliseconds {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in self?.resume(number) }
        }
        return number
    }

    private func resume(_ number: Int) {
        let held = state.withLock { $0.held.removeValue(forKey: number) }
        held?.resume()
    }

    /// The answer of a fault: without a position, as from a proxy that knows none.
    private static func answer(_ status: Int, _ retryAfter: Int) -> Response {
        let code: ProblemCode =
            switch status {
            case 401: .unauthorized
            case 403: .forbidden
            case 503: .unavailable
            case 507: .storageFull
            default: ProblemCode(text: "fault", status: status)
            }
        return Response(Problem(code, "A fault that a test has armed answers \(status).", status: status), at: nil, retryAfter: retryAfter)
    }

    private static func expired(_ token: DeviceToken?) -> Response {
        let problem = Problem(.unauthorized, "The token \(token?.text ?? "") has expired, as a test has it. Send a fresh one.")
        return Response(problem, at: nil, retryAfter: 0)
    }

    // MARK: Followers

    /// Yields at once, and whenever a fault of the namespace was armed, has struck or was lifted. ``armed(in:)`` has
    /// the faults.
    func follow(_ namespace: Namespace) -> AsyncStream<Void> {
        // Under the lock, so that ``forget(_:)`` ends this stream too.
        state.withLock { state in
            let followers = state.followers[namespace] ?? Broadcast(keepingLatest: 1)
            state.followers[namespace] = followers
            return followers.stream(first: ())
        }
    }

    private func tell(_ namespace: Namespace) {
        state.withLock { $0.followers[namespace] }?.send(())
    }
}

extension RequestContext {
    /// The call with the right to answer, limited to `extent`. This call has no right to answer from then on.
    fileprivate func passed(_ extent: Exchange.Extent, after delay: Duration = .zero) -> RequestContext {
        RequestContext(core: core, endpoint: endpoint, request: request, exchange: exchange.passed(extent, after: delay))
    }

    /// The same call, whose answer is discarded.
    fileprivate var muted: RequestContext { RequestContext(core: core, endpoint: endpoint, request: request, exchange: exchange.muted) }

    /// Ends the connection of a call that was passed on to be answered with nothing.
    fileprivate func abort() { exchange.respond(Response(status: .serviceUnavailable)) }
}
