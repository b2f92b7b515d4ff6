import CFreshetLinux
import FreshetServer
import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

extension ProxiedConnection {
    /// Passes a request on, subject to the fault that matches it, if any.
    func begin(_ request: Current) {
        current = request
        if rules.holdsAnswer(to: request.head) { current?.treatment = .hold }
        guard let faultable = FaultableRequest(request.head), let match = match(faultable) else { return forward() }
        apply(match, faultable.token)
    }

    /// Applies a fault to a poll that was passed on before the fault was armed, and has no response yet. The server may not
    /// have registered the poll as a waiter, so it cannot be relied on to release it.
    func applyFaults(toPollIn namespace: Namespace) {
        guard case .awaiting = phase, response.isEmpty, case .pass? = current?.treatment, let poll = feedRequest(in: namespace),
            let match = match(poll)
        else { return }
        switch match.effect {
        case .dropReply: current?.treatment = .lose
        case .cutReply: current?.treatment = .cut
        case .delayReply(let milliseconds): current?.treatment = .delay(milliseconds: milliseconds, match)
        case .dropRequest, .duplicate, .delayRequest, .answer, .freeze, .expireToken:
            // The request is taken back. Since it has no effect, it can be sent again.
            closeServer()
            apply(match, poll.token)
        }
    }

    /// Whether it passes on a stream of the namespace's changes.
    func isStream(of namespace: Namespace) -> Bool {
        guard case .passing(let body, _) = phase, body.isStream else { return false }
        return feedRequest(in: namespace) != nil
    }

    /// The current request, if it reads the namespace's feed.
    private func feedRequest(in namespace: Namespace) -> FaultableRequest? {
        guard let current, let request = FaultableRequest(current.head), request.target == .changes, request.namespace == namespace
        else { return nil }
        return request
    }

    private func match(_ request: FaultableRequest) -> FaultInjector.Match? {
        rules.injector?.match(request.target, request.token, in: request.namespace)
    }

    private func apply(_ match: FaultInjector.Match, _ token: DeviceToken?) {
        switch match.effect {
        case .dropRequest: close()
        case .dropReply: forward(.lose)
        case .cutReply: forward(.cut)
        case .delayReply(let milliseconds): forward(.delay(milliseconds: milliseconds, match))
        case .duplicate: sendCopy()
        case .delayRequest(let milliseconds):
            phase = .heldRequest(isLost: false)
            wait(match, milliseconds)
        case .freeze:
            phase = .heldRequest(isLost: true)
            wait(match, nil)
        case .answer(let status, let retryAfter): answer(Self.answer(status, retryAfter))
        case .expireToken: answer(Self.expired(token))
        }
    }

    private func forward(_ treatment: Treatment) {
        current?.treatment = treatment
        forward()
    }

    // MARK: Holds

    /// Waits on the board, which resumes the connection.
    func wait(_ match: FaultInjector.Match, _ milliseconds: Int?) {
        holds += 1
        hold = rules.injector?.hold(match, milliseconds) { [identifier, holds, resume = rules.resume] in resume(identifier, holds) }
    }

    /// Continues after a hold, unless another one has begun.
    func resume(_ number: Int) {
        guard number == holds else { return }
        hold = nil
        resume()
    }

    /// Continues with a request or a response that was held back.
    func resume() {
        switch phase {
        case .heldRequest(isLost: true): close()
        case .heldRequest(isLost: false): forward()
        case .heldResponse:
            current?.treatment = .pass
            phase = .awaiting
            readHead()
        default: break
        }
    }

    /// Passes a response on that ``Treatment/hold`` holds back.
    func release() {
        if case .hold? = current?.treatment { current?.treatment = .pass }
        if case .heldResponse = phase, hold == nil { resume() }
    }

    // MARK: Copies

    /// Sends the request twice. The original of a request with an effect follows when the copy has had it; others, which
    /// may wait for long, go together.
    private func sendCopy() {
        guard let current else { return }
        copyResponse = []
        copy = BufferedSocket(connectingTo: current.port, token: Role.copy.token(identifier), epoll)
        copy?.send(current.bytes)
        let isSafe = current.head.methodName == .get || current.head.methodName == .head
        if copy == nil || isSafe { forward() } else { phase = .copying }
    }

    func copyIsReady(_ event: epoll_event) {
        guard let copy, event.isReadable || event.isBroken else { return }
        read(copy) { bytes in
            if bytes == nil {
                copy.close()
                self.copy = nil
            }
            guard case .copying = phase else { return }
            copyResponse += bytes ?? []
            while let head = ResponseScanner(isHeadOnly: false).head(copyResponse), head.status < 200 {
                copyResponse.removeFirst(head.count)
            }
            if bytes == nil || ResponseScanner(isHeadOnly: false).head(copyResponse) != nil { forward() }
        }
    }

    // MARK: Answers

    /// The answer of a fault: without a position and a store, as from a proxy that knows none.
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
}
