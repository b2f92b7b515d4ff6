/// Memory accounting for connections, and the choice of those to refuse or drop when the server keeps too much.
extension EventLoop {
    /// Counts the bytes that the connection keeps of requests that no handler has yet. To be called wherever they may
    /// have changed.
    func countInput(_ connection: Connection) {
        let bytes = (connection.backlog?.inputBytes ?? 0) + (connection.layer?.heldBytes ?? 0)
        guard bytes >= MemoryLedger.smallest || connection.isInputCounted else { return }
        let before = keptInput.bytes
        connection.isInputCounted = bytes >= MemoryLedger.smallest
        keptInput.set(bytes, of: connection.token)
        counters.requestBytes.set(keptInput.bytes)
        if keptInput.bytes > before, connection.context.requestBytes > connection.context.limits.requestMemory { shedSoon(vainInputTick) }
    }

    /// Counts the bytes that wait to be sent to the connection. To be called wherever they may have changed.
    func countOutput(_ connection: Connection) {
        let bytes = connection.backlog?.output.count ?? 0
        let (kept, counted) = (queuedPieces.bytes, counters.answerBytes.count)
        // A piece counts whole until its last byte is sent, so the sum also changes where the connection keeps too little to be counted.
        guard bytes >= MemoryLedger.smallest || connection.isOutputCounted || kept != counted else { return }
        let hasGrown = kept > counted
        connection.isOutputCounted = bytes >= MemoryLedger.smallest
        queuedOutput.set(bytes, of: connection.token)
        counters.answerBytes.set(kept)
        if hasGrown, connection.context.answerBytes > connection.context.limits.answerMemory { shedSoon(vainOutputTick) }
    }

    /// Discards the backlog of a closed connection.
    func releaseBacklog(_ connection: Connection) {
        if let backlog = connection.backlog {
            backlog.output.forEachPiece { queuedPieces.remove($0) }
            connection.backlog = nil
        }
        countInput(connection)
        countOutput(connection)
    }

    /// Sheds once the current handler has returned: the handler may be about to write to a connection that is shed.
    ///
    /// - Parameter vainTick: the tick in which the last search found none. The search is not repeated within that tick:
    ///   where handlers hold the memory, only time helps.
    private func shedSoon(_ vainTick: UInt32?) {
        guard !isShedding, vainTick != tick else { return }
        isShedding = true
        callSoon([.call { [self] in shed() }])
    }

    private func shed() {
        isShedding = false
        guard let context else { return }
        shedInput(context)
        shedOutput(context)
    }

    private func shedInput(_ context: ServerContext) {
        let limit = context.limits.requestMemory
        let excess = context.requestBytes - limit
        guard excess > 0, isFullest(of: context, by: { $0.requestBytes.count }, else: { $0.shedInput($1) }) else { return }
        let needed = excess + limit / EventLoop.reserve
        let tokens = keptInput.giveWay(freeing: needed, share: limit / context.loops.count)
        if tokens.isEmpty { vainInputTick = tick }
        for token in tokens {
            guard let connection = connection(token) else { continue }
            counters.requestsShed.add(1)
            let failure = RequestFailure(
                .overloaded, "The requests that the server is receiving take all of the \(limit) bytes that it keeps for them")
            refuseUnfinished(connection, failure)
        }
    }

    private func shedOutput(_ context: ServerContext) {
        let limit = context.limits.answerMemory
        let excess = context.answerBytes - limit
        guard excess > 0, isFullest(of: context, by: { $0.answerBytes.count }, else: { $0.shedOutput($1) }) else { return }
        let needed = excess + limit / EventLoop.reserve
        let tokens = queuedOutput.giveWay(freeing: needed, share: limit / context.loops.count)
        if tokens.isEmpty { vainOutputTick = tick }
        for token in tokens {
            guard let connection = connection(token) else { continue }
            counters.answersShed.add(1)
            dropSlowReader(connection)
        }
    }

    /// Each search frees this part of the limit more than needed, so that searches are rare.
    private static let reserve = 16

    /// Returns whether no other loop of the server keeps more; otherwise asks the fullest loop to shed instead.
    private func isFullest(
        of context: ServerContext, by bytes: (LoopCounters) -> Int, else shed: @escaping @Sendable (EventLoop, ServerContext) -> Void
    ) -> Bool {
        let amounts = context.counters.map(bytes)
        guard let most = amounts.max(), most > bytes(counters), let fullest = amounts.firstIndex(of: most) else { return true }
        context.loops[fullest].post(.perform { loop in if loop.context === context { shed(loop, context) } })
        return false
    }
}
