import Synchronization

extension EventLoop {
    /// Writes an answer if its turn has come. A refusal behind a request that is being handled is kept until then.
    func deliver(_ answer: QueuedResponse, to connection: Connection, _ slot: RequestSlot) {
        guard connection.isOpen else { return }
        guard slot.number == connection.state.turn else {
            return connection.backlogForKeeping().refusal = (slot, answer)
        }
        if write(answer, to: connection, slot) { deliverRefusal(connection) }
    }

    /// Answers one of many exchanges whose right to answer has been taken.
    func answer(_ handle: ExchangeHandle, _ encoded: EncodedResponse) {
        if handle.endWait() { deliver(encoded, to: handle.connection, handle.slot) }
    }

    /// Writes bytes that many exchanges share: the short path of a fan-out.
    func deliver(_ encoded: EncodedResponse, to connection: Connection, _ slot: RequestSlot) {
        let isPlain = slot.traits.isEmpty && slot.number == connection.state.turn && connection.layer == nil
        guard isPlain, connection.isOpen, !connection.state.closes(after: slot, isDraining: isDraining) else {
            return deliver(.encoded(encoded), to: connection, slot)
        }
        counters.responses.add(1)
        transmit(encoded.bytes, to: connection)
        finishTurn(connection, closes: false)
        deliverRefusal(connection)
    }

    /// Writes a piece of a stream, whatever its size: `Recipient.reserve` has dropped the connection if too much was unsent
    /// before it.
    func deliver(_ piece: [UInt8], reserved: Int, to connection: Connection, _ number: UInt32) {
        if connection.isOpen, number == connection.state.turn {
            transmit(piece, reserved: reserved, to: connection)
        } else {
            connection.unsent.subtract(reserved, ordering: .relaxed)
        }
        notifyIfDrained(connection)
    }

    /// Ends a stream.
    func deliver(_ ending: StreamEnding, to connection: Connection, _ slot: RequestSlot) {
        guard connection.isOpen, slot.number == connection.state.turn else { return }
        finishStream(connection, slot, ending)
        deliverRefusal(connection)
    }

    /// Writes the refusal that was kept, if its turn has come.
    private func deliverRefusal(_ connection: Connection) {
        guard connection.isOpen, let backlog = connection.backlog, let refusal = backlog.refusal,
            refusal.slot.number == connection.state.turn
        else { return }
        backlog.refusal = nil
        _ = write(refusal.answer, to: connection, refusal.slot)
    }

    private func finishStream(_ connection: Connection, _ slot: RequestSlot, _ ending: StreamEnding) {
        if case .abandoned = ending {
            flushCork(connection)
            return close(connection)
        }
        let closes = connection.state.closes(after: slot, isDraining: isDraining)
        // Without chunks, only the end of the connection marks the end of the body.
        let isDelimitedByEnd = slot.traits.contains(.isHTTP10)
        if !isDelimitedByEnd { transmit(EventLoop.lastChunk, to: connection) }
        finishTurn(connection, closes: closes || isDelimitedByEnd)
    }

    private static let lastChunk = Array("0\r\n\r\n".utf8)

    /// Returns whether the turn is over: the turn of a stream lasts until the stream ends.
    private func write(_ answer: QueuedResponse, to connection: Connection, _ slot: RequestSlot) -> Bool {
        let closes = connection.state.closes(after: slot, isDraining: isDraining)
        let field: ConnectionField = closes ? .close : slot.traits.contains(.isHTTP10) ? .keepAlive : .none
        let isHeadOnly = slot.traits.contains(.headOnly)
        counters.responses.add(1)
        switch answer {
        case .encoded(let encoded):
            write(encoded, field, slot, to: connection)
        case .response(let response):
            writeHead(to: connection) { head in
                ResponseEncoder.appendHead(response, date: DateField.now(), to: &head)
                appendEnd(field, slot, of: connection, to: &head)
            } body: {
                (isHeadOnly || !ResponseEncoder.hasBody(response.status) ? [] : response.body, 0)
            }
        case .stream(let head):
            let isDelimitedByEnd = slot.traits.contains(.isHTTP10) && !isHeadOnly
            writeHead(to: connection) { bytes in
                bytes.append(contentsOf: head)
                appendEnd(isDelimitedByEnd ? .close : field, slot, of: connection, to: &bytes)
            } body: {
                ([], 0)
            }
            if !isHeadOnly { return false }
        }
        finishTurn(connection, closes: closes)
        return true
    }

    private func write(_ encoded: EncodedResponse, _ field: ConnectionField, _ slot: RequestSlot, to connection: Connection) {
        let isHeadOnly = slot.traits.contains(.headOnly)
        let isShared = field == .none && !isHeadOnly && connection.layer == nil && !slot.traits.contains(.isCrossOrigin)
        if isShared { return transmit(encoded.bytes, to: connection) }
        writeHead(to: connection) { head in
            head.append(contentsOf: encoded.bytes[..<encoded.headEnd])
            appendEnd(field, slot, of: connection, to: &head)
        } body: {
            (encoded.bytes, isHeadOnly ? encoded.bytes.count : encoded.bodyStart)
        }
    }

    /// Appends the field lines that depend on the request and its connection, and the end of the head.
    private func appendEnd(_ field: ConnectionField, _ slot: RequestSlot, of connection: Connection, to head: inout [UInt8]) {
        if slot.origin > 0 { connection.context.crossOrigin?.append(slot.origin, to: &head) }
        ResponseEncoder.appendEnd(field, isEncrypted: connection.layer != nil, to: &head)
    }

    /// Formats a head in the buffer that it is sent from, followed by the body if that is small. The body is the part
    /// of an array from an index on, so that a large one stays shared.
    private func writeHead(to connection: Connection, _ format: (inout [UInt8]) -> Void, body: () -> (bytes: [UInt8], start: Int)) {
        let (body, start) = body()
        let isSmall = body.count - start <= EventLoop.smallBody
        if isCorked(connection) {
            format(&corkedBytes)
            if isSmall { corkedBytes.append(contentsOf: body[start...]) } else { transmit(body, from: start, to: connection) }
            return
        }
        scratch.removeAll(keepingCapacity: true)
        format(&scratch)
        if isSmall { scratch.append(contentsOf: body[start...]) }
        scratch.withUnsafeBytes { transmitCopying($0, to: connection) }
        if !isSmall { transmit(body, from: start, to: connection) }
    }

    /// Ends the turn of a complete answer: goes on with the next one, or ends the connection.
    private func finishTurn(_ connection: Connection, closes: Bool) {
        guard connection.isOpen else { return }
        connection.state.finishTurn(closes: closes)
        if isCorked(connection) { return }
        finishIfDone(connection)
        resumeIfPossible(connection)
    }
}
