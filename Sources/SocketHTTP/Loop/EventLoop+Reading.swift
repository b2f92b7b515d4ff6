import HTTPTypes
import Synchronization

extension EventLoop {
    /// Reads all available input, up to the connection's share of the turn.
    ///
    /// The event is edge-triggered and does not come again, so one read is not enough. A read that does not fill the
    /// buffer has emptied the socket, except for the end of the input
    /// (https://man7.org/linux/man-pages/man7/epoll.7.html, the ninth question).
    ///
    /// - Parameter isEnding: whether the event reported the end of the input.
    func readInput(_ connection: Connection, isEnding: Bool = false) {
        if connection.isHandshaking, !mayContinueHandshake(connection) { return }
        var left = connection.isTransferring ? transfers.share : TransferQueue.slice
        while connection.isOpen, connection.state.wantsInput(isStalled: connection.isStalled) {
            // Modifying the interest makes epoll report the remaining input again.
            if left <= 0 { return epoll.modify(connection.descriptor, connection.interest, token: connection.token) }
            let buffer = UnsafeMutableRawBufferPointer(rebasing: readBuffer[..<min(left, readBuffer.count)])
            counters.receiveCalls.add(1)
            switch SystemCall.read(connection.descriptor, into: buffer) {
            case .bytes(let count):
                counters.bytesIn.add(count)
                transfers.count(count)
                left -= count
                if !connection.state.isLingering { take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), of: connection) }
                if connection.phase == .body { connection.backlog?.transferred += count }
                if count < buffer.count, !isEnding { return }
            case .endOfStream:
                return inputEnded(connection)
            case .wouldBlock:
                return
            case .failed:
                return close(connection)
            }
        }
        // The connection wants no input now, or ever. If it wants input later, the change of interest makes epoll
        // report this input again.
        if connection.isOpen { updateInterest(connection) }
    }

    /// Resumes a connection that had to stop: first the request that waited, then the bytes behind it.
    func resume(_ connection: Connection) {
        guard connection.isOpen, let backlog = connection.backlog, backlog.unadmitted == nil, !connection.hasOutput else { return }
        cork(connection)
        if backlog.owesContinue, connection.state.pending == 0, !connection.state.isFinal {
            backlog.owesContinue = false
            corkedBytes.append(EventLoop.continueResponse)
        }
        if let request = backlog.blocked, connection.state.mayAdmit, takesTurn(connection) {
            backlog.blocked = nil
            dispatch(request, on: connection)
        }
        if backlog.blocked == nil, !backlog.input.isEmpty {
            let input = backlog.input
            backlog.input = []
            input.withUnsafeBytes { parse($0, of: connection) }
        }
        uncork(connection)
    }

    private func take(_ input: UnsafeRawBufferPointer, of connection: Connection) {
        if connection.layer == nil, !connection.isHandshaking { process(input, of: connection) } else { decrypt(input, of: connection) }
    }

    func process(_ input: UnsafeRawBufferPointer, of connection: Connection) {
        let position = handleRepetition(input, of: connection)
        // Most repeated requests leave no unparsed bytes, and nothing was written to their connections.
        if position == input.count, connection.backlog == nil { return updateDeadline(connection) }
        cork(connection)
        parse(input, from: position, of: connection)
        uncork(connection)
    }

    /// Parses `input` and handles each request in it, as far as the connection's state lets it.
    private func parse(_ input: UnsafeRawBufferPointer, from start: Int = 0, of connection: Connection) {
        var position = start
        let bytes = input.assumingMemoryBound(to: UInt8.self).span
        var parser = connection.backlog?.parser ?? RequestParser(limits: connection.context.parserLimits)
        // The parser must have one owner, or its buffers would be copied at each change.
        connection.backlog?.parser = nil
        while position < input.count, connection.isOpen {
            guard !connection.state.isFinal else {
                connection.state.leaveInput()
                break
            }
            guard !connection.isStalled else {
                connection.backlogForKeeping().input = bytes.copy(position..<bytes.count)
                break
            }
            switch parser.consume(bytes, from: &position) {
            case .incomplete:
                continue
            case .body(let head):
                awaitAdmission(of: head, on: connection, isBodyLate: position == input.count)
            case .request(let request) where connection.state.mayAdmit && takesTurn(connection):
                dispatch(request, on: connection)
            case .request(let request):
                connection.backlogForKeeping().blocked = request
            case .failure(let failure):
                refuse(connection, failure)
            }
        }
        if connection.isOpen, !connection.state.isFinal, !parser.isFresh { connection.backlogForKeeping().parser = parser }
    }

    /// Handles the request at the beginning of `input` if it repeats the connection's template, and returns where it
    /// ends; 0 if it does not.
    private func handleRepetition(_ input: UnsafeRawBufferPointer, of connection: Connection) -> Int {
        guard let template = connection.template, !connection.state.isFinal, !connection.state.isInputEnded,
            connection.backlog.map({ $0.parser == nil && !$0.isStalled }) ?? true, let (value, end) = template.match(input),
            connection.state.mayAdmit
        else { return 0 }
        guard template.handler.isCurrent, connection.layer?.isOutdated != true else {
            connection.template = nil
            return 0
        }
        guard takesTurn(connection) else { return 0 }
        let number = connection.state.admit(isFinal: template.traits.contains(.closes))
        counters.requests.add(1)
        counters.recognised.add(1)
        let slot = RequestSlot(number: number, traits: template.traits, origin: template.origin)
        let exchange = Exchange(handle: ExchangeHandle(connection, slot))
        template.handler.handle(input.assumingMemoryBound(to: UInt8.self).span.extracting(value), exchange)
        closeIfOutdated(connection)
        return end
    }

    // MARK: Outdated connections

    /// Ends a connection whose peer has to connect again, without an answer to the request that has arrived: its answer could be
    /// a stream without an end. Nothing of the request is done, so the peer can send it on another connection. To be called while
    /// the connection is corked, and no request is pending.
    ///
    /// - Returns: whether the connection ends.
    private func endIfOutdated(_ connection: Connection) -> Bool {
        guard let layer = connection.layer, layer.isOutdated else { return false }
        connection.state.endUnanswered()
        return true
    }

    /// Closes a connection that was not outdated before its `GET` was passed to a handler, and is now, if that is unanswered.
    ///
    /// A handler that waits reads, when it is called, by what it will notice that connections have become outdated. If it has
    /// read that after they had, it would notice nothing.
    private func closeIfOutdated(_ connection: Connection) {
        guard let layer = connection.layer, connection.state.pending > 0, layer.isOutdated else { return }
        flushCork(connection)
        sendClosureAlert(connection)
        close(connection)
    }

    // MARK: Bodies

    /// Asks the route of a request whether the body is to be received. The connection is not read until the route has decided.
    ///
    /// - Parameter isBodyLate: whether none of the body has arrived.
    private func awaitAdmission(of head: RequestHead, on connection: Connection, isBodyLate: Bool) {
        // Behind a request that is being handled, the request is looked at when its turn comes.
        if connection.state.pending == 0, endIfOutdated(connection) { return }
        let context = connection.context
        switch context.router.match(head) {
        case .route(let parameters) where parameters.route.admission != nil:
            connection.backlogForKeeping().unadmitted = head
            let request = Request(ParsedRequest(head: head, body: []), parameters, of: connection)
            parameters.route.admission?(request) { refusal in
                connection.loop.post(.perform { $0.admit(head, or: refusal, on: connection) })
            }
        case .route, .options:
            if head.expectsContinue, isBodyLate { sendContinue(connection) }
        case .failure(let failure, let allow):
            refuse(connection, head, with: response(to: failure, allow, in: context))
        }
    }

    /// Receives the body of a request, or answers the request without it.
    private func admit(_ head: RequestHead, or refusal: Response?, on connection: Connection) {
        guard connection.isOpen, let backlog = connection.backlog, backlog.unadmitted === head else { return }
        // The connection's last answer is already on its way.
        if connection.state.isFinal { return discardInput(connection) }
        guard let refusal else {
            backlog.unadmitted = nil
            backlog.owesContinue = head.expectsContinue && backlog.input.isEmpty
            return resume(connection)
        }
        discardInput(connection)
        refuse(connection, head, with: refusal)
        connection.trimBacklog()
        if connection.isOpen { updateInterest(connection) }
    }

    private func response(to failure: RequestFailure, _ allow: String?, in context: ServerContext) -> Response {
        var response = context.router.failure(failure)
        if let allow { response.fields[.allow] = allow }
        return response
    }

    /// Sends `100 Continue` (RFC 9110 §10.1.1), which must not overtake pending answers.
    private func sendContinue(_ connection: Connection) {
        if connection.state.pending == 0 {
            corkedBytes.append(EventLoop.continueResponse)
        } else {
            connection.backlogForKeeping().owesContinue = true
        }
    }

    private static let continueResponse: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

    /// Answers a request whose exchange the handler released without an answer.
    func answerUnanswered(_ connection: Connection, _ slot: RequestSlot) {
        guard connection.isOpen else { return }
        let failure = RequestFailure(.unanswered, "The handler let the request go without an answer")
        deliver(.response(connection.context.router.failure(failure)), to: connection, slot)
    }

    /// Numbers a request and passes it to its handler, unless its connection is outdated.
    private func dispatch(_ parsed: ParsedRequest, on connection: Connection) {
        if endIfOutdated(connection) { return }
        let head = parsed.head
        let number = connection.state.admit(isFinal: !head.keepsAlive)
        let context = connection.context
        let slot = RequestSlot(number: number, traits: head.traits, origin: context.crossOrigin?.number(of: head) ?? 0)
        counters.requests.add(1)
        switch context.router.match(head) {
        case .route(let parameters):
            let size = parsed.body.count
            let share = size > MemoryLedger.large ? HandledBytes.Share(size, of: context.handledBytes) : nil
            let request = Request(parsed, parameters, of: connection, share)
            parameters.route.handler(request, Exchange(handle: ExchangeHandle(connection, slot)))
            // A write that has begun is answered.
            if head.line.method == .get { closeIfOutdated(connection) }
            // The handler may keep its request, and so the head: taking the repetition avoids a second reference to its
            // handler.
            let repetition = head.repetition.withLock { $0.take() }
            if let repetition, connection.isOpen, let template = RequestTemplate(head, repetition, origin: slot.origin) {
                connection.template = template
            }
        case .options(let allow):
            var fields: ResponseFields = [.allow: allow]
            if slot.origin > 0 { context.crossOrigin?.appendPreflight(allow, to: &fields) }
            deliver(.response(Response(status: .noContent, fields: fields)), to: connection, slot)
        case .failure(let failure, let allow):
            deliver(.response(response(to: failure, allow, in: context)), to: connection, slot)
        }
    }

    /// Answers bytes that are not a valid request. It is the connection's last answer, since the start of the next
    /// request is unknown.
    func refuse(_ connection: Connection, _ failure: RequestFailure) {
        var response = connection.context.router.failure(failure)
        if failure.kind == .overloaded, response.fields[.retryAfter] == nil { response.fields[.retryAfter] = "1" }
        refuse(connection, nil, with: response)
    }

    /// Answers bytes that will not be read as a request, or as the body of one.
    ///
    /// - Parameter head: that of the request, if it has arrived.
    private func refuse(_ connection: Connection, _ head: RequestHead?, with response: Response) {
        counters.requestsRefused.add(1)
        let number = connection.state.admit(isFinal: true, leavesInput: true)
        let origin = head.flatMap { connection.context.crossOrigin?.number(of: $0) } ?? 0
        let slot = RequestSlot(number: number, traits: (head?.traits ?? []).union(.closes), origin: origin)
        deliver(.response(response), to: connection, slot)
    }

    /// Handles the end of the input. The peer has shut its writing side and may still wait for answers.
    func inputEnded(_ connection: Connection) {
        connection.state.endInput()
        if connection.state.isLingering { return close(connection) }
        if let parser = connection.backlog?.parser, !parser.isFresh, !connection.state.isFinal {
            return refuseUnfinished(connection, RequestFailure(.malformed, "The connection ended in the middle of a request"))
        }
        if connection.state.pending == 0, !connection.isStalled { return close(connection) }
        updateInterest(connection)
        reportEnd(of: connection)
    }

    /// Reports the end of the input to the exchange that is being handled.
    func reportEnd(of connection: Connection) {
        let actions = connection.cancellations.withLock { $0.inputHasEnded() }
        if !actions.isEmpty { callSoon(actions) }
    }
}

extension Request {
    fileprivate init(
        _ parsed: ParsedRequest, _ parameters: RouteParameters, of connection: Connection, _ share: HandledBytes.Share? = nil
    ) {
        self.init(
            parsed, parameters, peer: connection.peer, certificate: connection.layer?.clientCertificate, listener: connection.listener,
            share)
    }
}
