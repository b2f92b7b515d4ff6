import Logging
import Synchronization

/// Encrypted connections: their layers turn the bytes of the socket into those of HTTP, and back.
extension EventLoop {
    /// The most steps of handshakes in a turn: one may take as long as hundreds of requests.
    private static let mostHandshakeSteps = 8
    /// Bytes that are encrypted at a time. If the socket does not accept them, the rest of them is kept beside the
    /// bytes that connections share.
    private static let encryptedSlice = 64 << 10

    /// Counts a step of a handshake that is about to be made; false if it has to wait for the next turn.
    func mayContinueHandshake(_ connection: Connection) -> Bool {
        guard handshakeSteps < EventLoop.mostHandshakeSteps else {
            waitForTurn(connection)
            return false
        }
        handshakeSteps += 1
        return true
    }

    /// Passes bytes that have arrived through the connection's layer, which the first of them make.
    func decrypt(_ input: UnsafeRawBufferPointer, of connection: Connection) {
        guard let layer = connection.layer ?? beginHandshake(connection) else { return close(connection) }
        connection.layer = layer
        let buffer = plaintext ?? .allocate(byteCount: ByteLayerInput.room, alignment: 16)
        plaintext = buffer
        let received = layer.receive(input, into: buffer, sending: &ciphertext)
        if connection.isHandshaking, !layer.isHandshaking {
            connection.isHandshaking = false
            counters.handshakes.add(1)
        }
        guard sendCiphertext(to: connection) else { return }
        if received.count > 0 { process(UnsafeRawBufferPointer(rebasing: buffer[..<received.count]), of: connection) }
        guard connection.isOpen else { return }
        switch received.end {
        case nil: countInput(connection)
        case .closed where connection.isStalled: connection.backlogForKeeping().endsAfterInput = true
        case .closed: inputEnded(connection)
        case .plaintext: refusePlaintext(connection)
        case .failed(let reason):
            counters.failedHandshakes.add(1)
            connection.context.logger.debug("an encrypted connection failed", metadata: ["reason": "\(reason)"])
            close(connection)
        }
    }

    /// Makes the layer of a connection; `nil` if its address has begun too many, or there is no memory.
    private func beginHandshake(_ connection: Connection) -> (any ByteLayer)? {
        let context = connection.context
        guard context.mayBeginHandshake(connection.peer) else {
            counters.handshakesRefused.add(1)
            return nil
        }
        return context.layers[Int(connection.listener)]?.makeLayer()
    }

    /// Answers a client that takes the port for a plain one, in plain HTTP.
    private func refusePlaintext(_ connection: Connection) {
        counters.failedHandshakes.add(1)
        connection.layer = nil
        connection.isHandshaking = false
        refuse(connection, RequestFailure(.malformed, "This port takes TLS alone: use https:// in place of http://"))
        if connection.isOpen { updateInterest(connection) }
    }

    /// Encrypts and sends as much as an answer may take of the turn; returns how many bytes were encrypted, or nil if
    /// the connection broke.
    func encryptAndSend(_ bytes: UnsafeRawBufferPointer, by layer: any ByteLayer, to connection: Connection) -> Int? {
        let limit = min(bytes.count, transfers.answerShare)
        var encrypted = 0
        while encrypted < limit, !connection.hasOutput {
            let end = min(limit, encrypted + EventLoop.encryptedSlice)
            guard layer.send(UnsafeRawBufferPointer(rebasing: bytes[encrypted..<end]), sending: &ciphertext) else {
                ciphertext.removeAll(keepingCapacity: true)
                close(connection)
                return nil
            }
            guard sendCiphertext(to: connection) else { return nil }
            encrypted = end
        }
        return encrypted
    }

    /// Encrypts the next queued bytes, if all encrypted ones are sent; false if the layer failed.
    func encryptQueued(_ backlog: ConnectionBacklog, by layer: any ByteLayer, of connection: Connection) -> Bool {
        guard backlog.output.sealedCount == 0 else { return true }
        let before = backlog.output.count
        let isEncrypted = backlog.output.encrypt(
            atMost: EventLoop.encryptedSlice, release: { queuedPieces.remove($0) }, { layer.send($0, sending: &ciphertext) })
        keepCiphertext(from: 0, on: backlog)
        connection.unsent.add(backlog.output.count - before, ordering: .relaxed)
        countOutput(connection)
        // Otherwise the queue would send plain bytes.
        return isEncrypted && backlog.output.sealedCount > 0
    }

    /// Sends the notice that no bytes follow, so that the peer does not take the end for an attack; only if all are sent.
    func sendClosureAlert(_ connection: Connection) {
        guard let layer = connection.layer, !connection.hasOutput, !connection.state.isLingering else { return }
        layer.close(sending: &ciphertext)
        _ = sendCiphertext(to: connection)
    }

    /// Sends the bytes that were encrypted, and queues those that the socket does not accept; false if the connection
    /// broke.
    private func sendCiphertext(to connection: Connection) -> Bool {
        guard !ciphertext.isEmpty else { return true }
        var sent = 0
        if !connection.hasOutput {
            counters.sendCalls.add(1)
            switch ciphertext.withUnsafeBytes({ SystemCall.send(connection.descriptor, $0) }) {
            case .bytes(let count):
                counters.bytesOut.add(count)
                transfers.count(count)
                sent = count
            case .wouldBlock:
                break
            case .failed:
                ciphertext.removeAll(keepingCapacity: true)
                close(connection)
                return false
            }
        }
        guard sent < ciphertext.count else {
            ciphertext.removeAll(keepingCapacity: true)
            return true
        }
        let count = ciphertext.count - sent
        keepCiphertext(from: sent, on: connection.backlogForKeeping())
        connection.unsent.add(count, ordering: .relaxed)
        countOutput(connection)
        guard !isCorked(connection) else { return true }
        updateInterest(connection)
        updateDeadline(connection)
        return true
    }

    /// Moves encrypted bytes from an index on to the queue.
    private func keepCiphertext(from start: Int, on backlog: ConnectionBacklog) {
        backlog.output.append(sealed: Array(ciphertext[start...])) { kept, before in
            if let before { queuedPieces.remove(before) }
            queuedPieces.add(kept)
        }
        ciphertext.removeAll(keepingCapacity: true)
    }
}
