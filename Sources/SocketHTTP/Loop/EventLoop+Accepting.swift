import Logging

/// A listening socket of the loop that has them all, the first of a server's.
struct Acceptor: Sendable {
    let socket: ListeningSocket
    let policy: AcceptPolicy
    var isPaused = false
    /// The tick from which on a lack of resources is logged again.
    var nextWarning: UInt32?
    /// Connections go to the loops in turn: long-lived ones are best spread by number.
    var nextLoop = 0

    init(_ socket: ListeningSocket, _ policy: AcceptPolicy) { (self.socket, self.policy) = (socket, policy) }

    /// Names a listener in epoll events and timer entries: an even number below those of connections, whose generations
    /// start at 1. The loop's wake-up event has an odd one.
    static func token(of index: Int) -> UInt64 { UInt64(index) << 1 }

    /// The index of the listener that a token names; `nil` for any other token.
    static func index(of token: UInt64) -> Int? { token >> 32 == 0 && token & 1 == 0 ? Int(token >> 1) : nil }
}

extension EventLoop {
    /// Watches the listeners for reading. (Never for writing, which would report without end.)
    func startAccepting(_ acceptors: [Acceptor]) -> Bool {
        self.acceptors = acceptors
        return acceptors.indices.allSatisfy { epoll.add(acceptors[$0].socket.descriptor, .reading, token: Acceptor.token(of: $0)) }
    }

    /// Closes the listeners.
    func stopAccepting() {
        let acceptors = acceptors
        self.acceptors = []
        for acceptor in acceptors { acceptor.socket.close() }
    }

    /// The most connections that are accepted from a listener in a turn: a peer may connect as fast as they are refused. Epoll reports
    /// the others again.
    private static let mostAccepted = 64
    /// How long a lack of resources is not logged again, in ticks: a pause lasts one tick, and another may follow.
    private static let warningInterval = UInt32(10 * Clock.ticksPerSecond)

    /// Accepts connections that wait for a listener.
    func acceptConnections(of index: Int) {
        for _ in 0..<EventLoop.mostAccepted {
            guard index < acceptors.count, let context, !acceptors[index].isPaused else { return }
            let acceptor = acceptors[index]
            let decision = acceptor.policy.decide(open: context.openConnections)
            guard decision != .pause else {
                if acceptor.policy.isOutOfRoom(open: context.openConnections) { warnOfPause(index, nil) }
                return pauseAccepting(index)
            }
            switch ListeningSocket.accept(acceptor.socket.descriptor) {
            case .accepted(let descriptor, let peer):
                switch context.connectionOpened(from: peer) {
                case .serve: hand(descriptor, peer, index, refusal: decision == .refuse ? .full : nil)
                case .refuse: hand(descriptor, peer, index, refusal: .address)
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
                    warnOfPause(index, code)
                    return pauseAccepting(index)
                }
            }
        }
    }

    /// Logs a lack of resources, now and then.
    ///
    /// - Parameter code: the error of the system call; `nil` if the connections have all descriptors that they may have.
    private func warnOfPause(_ index: Int, _ code: Int32?) {
        guard let context, acceptors[index].nextWarning.map({ !$0.isAfter(tick) }) ?? true else { return }
        acceptors[index].nextWarning = tick &+ EventLoop.warningInterval
        let cause = code.map { "errno \($0)" } ?? "the limit of open files"
        context.logger.warning("accepting pauses", metadata: ["cause": "\(cause)", "open": "\(context.openConnections)"])
    }

    private func hand(_ descriptor: Int32, _ peer: PeerAddress, _ listener: Int, refusal: Connection.Refusal?) {
        guard let context else { return SystemCall.close(descriptor) }
        let index = acceptors[listener].nextLoop
        acceptors[listener].nextLoop = (index + 1) % context.loops.count
        let (loop, listener) = (context.loops[index], UInt8(truncatingIfNeeded: listener))
        if loop === self {
            adopt(descriptor, peer, listener, context, refusal: refusal)
        } else {
            loop.post(.adopt(descriptor, peer, listener, context, refusal: refusal))
        }
    }

    /// Makes a socket that a listener has accepted a connection of this loop.
    func adopt(_ descriptor: Int32, _ peer: PeerAddress, _ listener: UInt8, _ context: ServerContext, refusal: Connection.Refusal?) {
        // Since the socket was posted, the server may have drained and the loop may work for another one.
        guard context === self.context else { return SystemCall.close(descriptor) }
        lastGeneration = lastGeneration == .max ? 1 : lastGeneration + 1
        let connection = Connection(descriptor, peer, listener, generation: lastGeneration, loop: self, context: context)
        connection.isHandshaking = context.layers[Int(listener)] != nil
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
    private func pauseAccepting(_ index: Int) {
        acceptors[index].isPaused = true
        let token = Acceptor.token(of: index)
        epoll.modify(acceptors[index].socket.descriptor, [], token: token)
        wake(at: wheel.insert(token, at: tick &+ 1))
    }

    func resumeAccepting(_ index: Int) {
        guard index < acceptors.count, acceptors[index].isPaused else { return }
        acceptors[index].isPaused = false
        epoll.modify(acceptors[index].socket.descriptor, .reading, token: Acceptor.token(of: index))
    }
}
