extension EventLoop {
    /// Adds a request to the crowd of identical requests: to one that already waits if it may join, otherwise to the
    /// one that gathers in this turn.
    ///
    /// - Parameter head: the index of the known head.
    func gather(_ connection: Connection, _ ticket: Ticket, _ head: Int) {
        let crowd: CrowdTable.Number
        if let present = recentHeads.entries[head].crowd, isOpen(present) {
            crowd = present
        } else {
            crowd = crowds.begin(for: recentHeads.entries[head].handler, at: tick)
            recentHeads.gather(head, in: crowd)
        }
        connection.seat = crowds.admit(CrowdTable.Member(token: connection.token, ticket: ticket), to: crowd)
    }

    private func isOpen(_ crowd: CrowdTable.Number) -> Bool {
        switch crowds.openness(of: crowd, at: tick) {
        case .open: true
        case .closed: false
        // A listener whose crowd is just being answered should not admit a request; if it does, the crowd is already
        // gone.
        case .asking(let watch): watch.listener.admits(to: watch.key) && crowds.isPresent(crowd)
        }
    }

    /// Hands each gathered crowd to its handler. Crowds gather only while sockets are read, which happens before this.
    func handOverCrowds() {
        while let (number, count, handler) = crowds.handOver() { handler.handle(Crowd(self, number, count: count)) }
    }

    /// Answers all members of a crowd with the same bytes.
    func answer(_ crowd: CrowdTable.Number, _ encoded: EncodedResponse) {
        forEach(of: crowd) { deliver(encoded, to: $0, $1) }
    }

    /// Answers each member of a crowd with a separate response.
    func answer(_ crowd: CrowdTable.Number, each response: () -> Response) {
        forEach(of: crowd) { deliver(.response(response()), to: $0, $1) }
    }

    /// Answers a crowd that its handler released without an answer.
    func answerUnanswered(_ crowd: CrowdTable.Number) {
        forEach(of: crowd) { answerUnanswered($0, $1) }
    }

    @inline(__always)
    private func forEach(of crowd: CrowdTable.Number, _ answer: (Connection, Ticket) -> Void) {
        for case let member? in crowds.takeAll(of: crowd) {
            guard let connection = connection(member.token) else { continue }
            connection.seat = .none
            answer(connection, member.ticket)
        }
    }

    /// Sets the listener that is notified when members leave a crowd. For members that have already left, it is
    /// notified soon.
    func begin(_ watch: CrowdTable.Watch, of crowd: CrowdTable.Number) {
        for connection in crowds.begin(watch, of: crowd) { tellSoon(connection, of: crowd) }
    }

    /// Records that the peer of a connection has disconnected or ended its input, and notifies its crowd's listener.
    func leaveCrowd(_ connection: Connection) {
        guard connection.seat != .none, let crowd = crowds.note(connection) else { return }
        tellSoon(connection, of: crowd)
    }

    private func tellSoon(_ connection: Connection, of crowd: CrowdTable.Number) {
        let tell: @Sendable () -> Void = { [self] in
            // The member may have been answered meanwhile, or split off after an earlier notification.
            guard connection.seat.slot == crowd.slot, let watch = crowds.watch(of: crowd) else { return }
            watch.listener.hungUp(Crowd.Member(connection: connection), of: watch.key)
        }
        callSoon([.call(tell)])
    }

    /// Removes a member from its crowd and returns an exchange with the right to answer it.
    func split(_ connection: Connection, from crowd: CrowdTable.Number) -> Exchange {
        guard let member = crowds.take(connection.seat, of: crowd) else {
            // The member has been answered.
            return Exchange(handle: ExchangeHandle(connection, Ticket(number: 0, traits: []), isAnswered: true))
        }
        connection.seat = .none
        return Exchange(handle: ExchangeHandle(connection, member.ticket))
    }
}
