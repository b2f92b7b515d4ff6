import Synchronization

extension EventLoop {
    /// Ends a connection whose last answer has been sent; updates the deadline of any other.
    func finishIfDone(_ connection: Connection) {
        guard connection.isOpen else { return }
        guard connection.state.isClosing, !connection.hasOutput, !isCorked(connection) else { return updateDeadline(connection) }
        guard !connection.state.isLingering else { return }
        sendClosureAlert(connection)
        guard connection.isOpen else { return }
        switch connection.state.end() {
        case .close:
            close(connection)
        case .linger:
            SystemCall.shutdownWriting(connection.descriptor)
            updateInterest(connection)
            updateDeadline(connection)
        }
    }

    /// Closes the socket, once, and notifies the application that the peer no longer waits for its answers.
    func close(_ connection: Connection) {
        guard connection.isOpen else { return }
        connection.isOpen = false
        connections[Int(connection.descriptor)] = nil
        SystemCall.close(connection.descriptor)
        openCount -= 1
        connection.layer = nil
        connection.template = nil
        releaseBacklog(connection)
        let actions = connection.cancellations.withLock { $0.peerHasGone() }
        if !actions.isEmpty { callSoon(actions) }
        connection.context.connectionClosed(from: connection.peer)
        reportIfDrained()
    }

    func dropSlowReader(_ connection: Connection) {
        guard connection.isOpen else { return }
        counters.slowReadersDropped.add(1)
        close(connection)
    }

    /// Ends a connection whose phase has lasted too long.
    func expire(_ connection: Connection) {
        switch connection.phase {
        case .head:
            timeOut(connection, "The request's head did not arrive in time")
        case .body:
            let limits = connection.context.limits
            let seconds = limits.bodyTimeout.components.seconds
            let rate = "at less than \(limits.bodyRate) bytes a second, or not at all for \(seconds) seconds"
            timeOut(connection, "The request's body came \(rate)")
        case .opening, .idle, .lingering:
            sendClosureAlert(connection)
            close(connection)
        case .writing:
            dropSlowReader(connection)
        case .awaitingHandler:
            break
        }
    }

    private func timeOut(_ connection: Connection, _ detail: String) {
        refuseUnfinished(connection, RequestFailure(.timeout, detail))
    }

    /// Refuses a request that is incomplete or waits for earlier ones, and discards the input behind it.
    func refuseUnfinished(_ connection: Connection, _ failure: RequestFailure) {
        discardInput(connection)
        // The connection's last answer is already on its way.
        guard !connection.state.isFinal, !connection.isHandshaking else { return close(connection) }
        refuse(connection, failure)
        connection.trimBacklog()
        if connection.isOpen { updateInterest(connection) }
    }

    /// Discards what the connection keeps of requests that no handler has.
    func discardInput(_ connection: Connection) {
        connection.backlog?.parser = nil
        connection.backlog?.blocked = nil
        connection.backlog?.unadmitted = nil
        connection.backlog?.input = []
        countInput(connection)
    }

    // MARK: Draining

    /// Closes idle connections and makes the others close after their last answer.
    func beginDraining(_ context: ServerContext) {
        guard context === self.context, !isDraining else { return }
        stopAccepting()
        isDraining = true
        for case let connection? in connections {
            // A request may have arrived that epoll has not reported yet.
            readInput(connection)
            guard connection.isOpen, connection.state.pending == 0, !connection.isStalled, !connection.state.isLingering else {
                continue
            }
            if let parser = connection.backlog?.parser, parser.progress != .betweenRequests { continue }
            sendClosureAlert(connection)
            close(connection)
        }
        reportIfDrained()
    }

    /// Closes all remaining connections.
    func closeAll(_ context: ServerContext) {
        guard context === self.context else { return }
        stopAccepting()
        isDraining = true
        for case let connection? in connections { close(connection) }
        reportIfDrained()
    }

    private func reportIfDrained() {
        guard isDraining, openCount == 0, let context else { return }
        // The loop now belongs to no server. Messages to its former connections find them closed.
        self.context = nil
        isDraining = false
        connections = []
        context.loopDrained()
    }
}
