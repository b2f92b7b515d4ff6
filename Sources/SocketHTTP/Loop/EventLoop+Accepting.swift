import Logging

/// The listening socket of the loop that has it, the first of a server's.
struct Acceptor {
    /// Names the listener in epoll events and timer entries; connections' generations start at 1.
    static let token: UInt64 = 0

    let descriptor: Int32
    let policy: AcceptPolicy
    var isPaused = false
    /// Connections go to the loops in turn: long-lived ones are best spread by number.
    var nextLoop = 0
}

extension EventLoop {
    /// Watches the listener for reading. (Never for writing, which would report without end.)
    func startAccepting(_ descriptor: Int32, policy: AcceptPolicy) -> Bool {
        acceptor = Acceptor(descriptor: descriptor, policy: policy)
        return epoll.add(descriptor, .reading, token: Acceptor.token)
    }

    /// Closes the listener; the kernel resets the connections in its backlog.
    func stopAccepting() {
        guard let acceptor else { return }
        self.acceptor = nil
        SystemCall.close(acceptor.descriptor)
    }

    /// Accepts until the backlog is empty.
    func acceptConnections() {
        while let acceptor, let context, !acceptor.isPaused {
            let decision = acceptor.policy.decide(open: context.openConnections)
            guard decision != .pause else { return pauseAccepting() }
            switch ListeningSocket.accept(acceptor.descriptor) {
            case .accepted(let descriptor, let peer):
                switch context.connectionOpened(from: peer) {
                case .serve: hand(descriptor, peer, refusal: decision == .refuse ? .full : nil)
                case .refuse: hand(descriptor, peer, refusal: .address)
                case .drop:
                    counters.accepted.add(1)
                    counters.connectionsRefusedByAddress.add(1)
                    SystemCall.close(descriptor)
                }
            case .failed(let code):
                switch AcceptPolicy.classify(code) {
                case .skip: continue
                case .done: return
                case .pause:
                    context.logger.warning("accepting pauses", metadata: ["errno": "\(code)", "open": "\(context.openConnections)"])
                    return pauseAccepting()
                }
            }
        }
    }

    private func hand(_ descriptor: Int32, _ peer: PeerAddress, refusal: Connection.Refusal?) {
        guard let context else { return SystemCall.close(descriptor) }
        let index = acceptor?.nextLoop ?? 0
        acceptor?.nextLoop = (index + 1) % context.loops.count
        let loop = context.loops[index]
        if loop === self {
            adopt(descriptor, peer, context, refusal: refusal)
        } else {
            loop.post(.adopt(descriptor, peer, context, refusal: refusal))
        }
    }

    /// Makes an accepted socket a connection of this loop.
    func adopt(_ descriptor: Int32, _ peer: PeerAddress, _ context: ServerContext, refusal: Connection.Refusal?) {
        // Since the socket was posted, the server may have drained and the loop may work for another one.
        guard context === self.context else { return SystemCall.close(descriptor) }
        lastGeneration = lastGeneration == .max ? 1 : lastGeneration + 1
        let connection = Connection(descriptor, peer, generation: lastGeneration, loop: self, context: context)
        connection.isHandshaking = context.layers != nil
        guard epoll.add(descriptor, connection.interest, token: connection.token) else {
            context.connectionClosed(from: peer)
            return SystemCall.close(descriptor)
        }
        while connections.count <= Int(descriptor) { connections.append(nil) }
        connections[Int(descriptor)] = connection
        openCount += 1
        counters.accepted.add(1)
        switch refusal {
        case nil: setDeadline(connection)
        case .full:
            counters.connectionsRefused.add(1)
            refuseAccepted(connection, RequestFailure(.overloaded, "All \(context.limits.connections) connections are taken"))
        case .address:
            counters.connectionsRefusedByAddress.add(1)
            let limit = context.limits.connectionsPerAddress
            refuseAccepted(connection, RequestFailure(.overloaded, "This address has the \(limit) connections that one address may have"))
        }
    }

    /// Answers a connection beyond a limit; one that would be encrypted is only closed, since its handshake costs more
    /// than any answer.
    private func refuseAccepted(_ connection: Connection, _ failure: RequestFailure) {
        if connection.isHandshaking { close(connection) } else { refuse(connection, failure) }
    }

    /// Leaves connections to the kernel's backlog for a moment.
    private func pauseAccepting() {
        guard let descriptor = acceptor?.descriptor else { return }
        acceptor?.isPaused = true
        epoll.modify(descriptor, [], token: Acceptor.token)
        wake(at: wheel.insert(Acceptor.token, at: tick &+ 1))
    }

    func resumeAccepting() {
        guard let descriptor = acceptor?.descriptor, acceptor?.isPaused == true else { return }
        acceptor?.isPaused = false
        epoll.modify(descriptor, .reading, token: Acceptor.token)
    }
}
