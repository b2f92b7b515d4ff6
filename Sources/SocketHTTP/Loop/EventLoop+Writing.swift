import Synchronization

extension EventLoop {
    /// Up to this size, copying a body costs less than a separate system call.
    static let smallBody = 16 << 10

    /// Collects all output of the connection until it is uncorked.
    func cork(_ connection: Connection) {
        corked = connection.token
    }

    func isCorked(_ connection: Connection) -> Bool { connection.token == corked }

    /// Sends the collected output, in one call, and brings the connection up to date.
    func uncork(_ connection: Connection) {
        flushCork(connection)
        corked = 0
        guard connection.isOpen else { return }
        if connection.state.isClosing {
            finishIfDone(connection)
            guard connection.isOpen else { return }
        }
        resumeIfPossible(connection)
        endInputIfParsed(connection)
        guard connection.isOpen else { return }
        connection.trimBacklog()
        updateInterest(connection)
        updateDeadline(connection)
        countInput(connection)
    }

    /// Handles the end of an encrypted input once the requests before it have been taken.
    func endInputIfParsed(_ connection: Connection) {
        guard let backlog = connection.backlog, backlog.endsAfterInput, !connection.isStalled else { return }
        backlog.endsAfterInput = false
        inputEnded(connection)
    }

    func resumeIfPossible(_ connection: Connection) {
        guard let backlog = connection.backlog, backlog.output.isEmpty, backlog.unadmitted == nil, !connection.isWaitingForTurn else {
            return
        }
        let isUseful = backlog.blocked == nil ? !backlog.input.isEmpty : connection.state.mayAdmit
        let mayContinue = backlog.owesContinue && connection.state.pending == 0 && !connection.state.isFinal
        if isUseful || mayContinue { resumeSoon(connection) }
    }

    /// Sends the output collected so far, if it belongs to this connection.
    func flushCork(_ connection: Connection) {
        guard isCorked(connection), !corkedBytes.isEmpty else { return }
        corked = 0
        if connection.isOpen { corkedBytes.withUnsafeBytes { transmitCopying($0, to: connection) } }
        corkedBytes.removeAll(keepingCapacity: true)
        corked = connection.token
    }

    /// Sends `bytes` from an index on; those that the socket does not accept are queued without a copy.
    ///
    /// - Parameter reserved: how many bytes count as unsent for these already. They count until the bytes are sent or queued:
    ///   a writer that found too few unsent bytes meanwhile would continue, and its next piece would drop the connection.
    func transmit(_ bytes: [UInt8], from start: Int = 0, reserved: Int = 0, to connection: Connection) {
        if isCorked(connection) {
            if bytes.count - start <= EventLoop.smallBody, corkedBytes.count < 4 * EventLoop.smallBody {
                release(reserved, of: connection)
                return corkedBytes.append(contentsOf: bytes[start...])
            }
            flushCork(connection)
        }
        guard connection.isOpen else { return }
        let sent = bytes.withUnsafeBytes { sendNow(UnsafeRawBufferPointer(rebasing: $0[start...]), to: connection) }
        guard let sent, start + sent < bytes.count else { return release(reserved, of: connection) }
        enqueue(bytes, from: start + sent, reserved: reserved, on: connection)
    }

    private func release(_ reserved: Int, of connection: Connection) {
        if reserved > 0 { connection.unsent.subtract(reserved, ordering: .relaxed) }
    }

    /// Sends borrowed bytes; those that the socket does not accept are copied and queued.
    func transmitCopying(_ bytes: UnsafeRawBufferPointer, to connection: Connection) {
        guard let sent = sendNow(bytes, to: connection), sent < bytes.count else { return }
        enqueue(Array(bytes[sent...]), from: 0, on: connection)
    }

    /// Sends as much as an answer may take of the turn; returns how many bytes were sent, or nil if the connection
    /// broke.
    private func sendNow(_ bytes: UnsafeRawBufferPointer, to connection: Connection) -> Int? {
        if connection.hasOutput || bytes.isEmpty { return 0 }
        if let layer = connection.layer { return encryptAndSend(bytes, by: layer, to: connection) }
        counters.sendCalls.add(1)
        switch SystemCall.send(connection.descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(transfers.answerShare))) {
        case .bytes(let count):
            counters.bytesOut.add(count)
            transfers.count(count)
            return count
        case .wouldBlock:
            return 0
        case .failed:
            close(connection)
            return nil
        }
    }

    private func enqueue(_ bytes: [UInt8], from start: Int, reserved: Int = 0, on connection: Connection) {
        queuedPieces.add(connection.backlogForKeeping().output.append(bytes, from: start))
        connection.unsent.add(bytes.count - start - reserved, ordering: .relaxed)
        countOutput(connection)
        guard !isCorked(connection) else { return }
        updateInterest(connection)
        updateDeadline(connection)
    }

    /// Sends queued output once the socket accepts more.
    func flush(_ connection: Connection) {
        guard let backlog = connection.backlog, !backlog.output.isEmpty else { return updateInterest(connection) }
        if let layer = connection.layer, !encryptQueued(backlog, by: layer, of: connection) { return close(connection) }
        counters.sendCalls.add(1)
        switch backlog.output.send(to: connection.descriptor, atMost: transfers.share) {
        case .bytes(let count):
            counters.bytesOut.add(count)
            transfers.count(count)
            backlog.output.consume(count) { queuedPieces.remove($0) }
            countOutput(connection)
            connection.unsent.subtract(count, ordering: .relaxed)
            notifyIfDrained(connection)
            guard backlog.output.isEmpty else { return }
            finishIfDone(connection)
            guard connection.isOpen else { return }
            resumeIfPossible(connection)
            endInputIfParsed(connection)
            guard connection.isOpen else { return }
            connection.trimBacklog()
            updateInterest(connection)
        case .wouldBlock:
            break
        case .failed:
            close(connection)
        }
    }

    /// Calls a stream's writer once few enough bytes are unsent.
    func awaitDrain(_ connection: Connection, _ listener: ConnectionBacklog.DrainListener) {
        guard connection.isOpen else { return }
        connection.backlogForKeeping().drainListeners.append(listener)
        notifyIfDrained(connection)
        connection.trimBacklog()
    }

    /// Calls the listeners whose limit the unsent bytes have reached. To be called wherever the unsent bytes become
    /// fewer.
    func notifyIfDrained(_ connection: Connection) {
        guard let backlog = connection.backlog, !backlog.drainListeners.isEmpty else { return }
        let unsent = connection.unsent.load(ordering: .relaxed)
        let ready = backlog.drainListeners.filter { unsent <= $0.limit }
        guard !ready.isEmpty else { return }
        backlog.drainListeners.removeAll { unsent <= $0.limit }
        callSoon(ready.map { .call($0.action) })
        connection.trimBacklog()
    }

    /// Sets the epoll interest to the events that the connection can use now.
    func updateInterest(_ connection: Connection) {
        var interest: Epoll.Interest = []
        if connection.hasOutput {
            interest = .writing
        } else if connection.state.wantsInput(isStalled: connection.isStalled) {
            interest = .input
        } else if connection.isStalled, connection.state.pending > 0, !connection.state.isInputEnded {
            // A request waits behind one that is handled: if its client leaves, no poll waits on.
            interest = .inputEnd
        }
        guard interest != connection.interest else { return }
        connection.interest = interest
        counters.watchCalls.add(1)
        epoll.modify(connection.descriptor, interest, token: connection.token)
    }
}
