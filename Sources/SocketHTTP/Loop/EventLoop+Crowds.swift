extension EventLoop {
    /// Has a request wait with others in the same bytes: with those who wait already, or with those who come at this look at the sockets.
    ///
    /// - Parameter head: the place of the known head.
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
        // Whoever answers the crowd now should not say yes; if it does, the crowd is gone.
        case .asking(let watch): watch.listener.admits(to: watch.key) && crowds.isPresent(crowd)
        }
    }

    /// Gives each crowd that has gathered to its handler. Only what reads a socket has them gather, and it comes before this.
    func handOverCrowds() {
        while let (number, count, handler) = crowds.handOver() { handler.handle(Crowd(self, number, count: count)) }
    }

    /// Answers all of a crowd alike.
    func answer(_ crowd: CrowdTable.Number, _ encoded: EncodedResponse) {
        forEach(of: crowd) { deliver(encoded, to: $0, $1) }
    }

    /// Answers each of a crowd.
    func answer(_ crowd: CrowdTable.Number, each response: () -> Response) {
        forEach(of: crowd) { deliver(.response(response()), to: $0, $1) }
    }

    /// The crowd's handler let go of it.
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

    /// From now on somebody is told who leaves a crowd; those that have left already are told of soon.
    func begin(_ watch: CrowdTable.Watch, of crowd: CrowdTable.Number) {
        for connection in crowds.begin(watch, of: crowd) { tellSoon(connection, of: crowd) }
    }

    /// The peer of a connection has gone, or ended its input: its crowd may have to know.
    func leaveCrowd(_ connection: Connection) {
        guard connection.seat != .none, let crowd = crowds.note(connection) else { return }
        tellSoon(connection, of: crowd)
    }

    private func tellSoon(_ connection: Connection, of crowd: CrowdTable.Number) {
        let tell: @Sendable () -> Void = { [self] in
            // Answered meanwhile, or told of before?
            guard connection.seat.slot == crowd.slot, let watch = crowds.watch(of: crowd) else { return }
            watch.listener.hungUp(Crowd.Member(connection: connection), of: watch.key)
        }
        callSoon([.call(tell)])
    }

    /// Takes a member out of its crowd, with the right to answer it.
    func split(_ connection: Connection, from crowd: CrowdTable.Number) -> Exchange {
        guard let member = crowds.take(connection.seat, of: crowd) else {
            // It has been answered.
            return Exchange(handle: ExchangeHandle(connection, Ticket(number: 0, traits: []), isAnswered: true))
        }
        connection.seat = .none
        return Exchange(handle: ExchangeHandle(connection, member.ticket))
    }
}
