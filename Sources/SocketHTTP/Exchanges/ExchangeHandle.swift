import Synchronization

/// The one right to answer a request, shared by an exchange's copies. When the last is released unused, the answer is `500`.
final class ExchangeHandle: Sendable {
    let connection: Connection
    let ticket: Ticket
    private let isAnswered = Atomic<Bool>(false)

    init(_ connection: Connection, _ ticket: Ticket) {
        self.connection = connection
        self.ticket = ticket
    }

    deinit {
        guard !isAnswered.load(ordering: .relaxed) else { return }
        guard !connection.cancellations.withLock({ $0.isPeerGone }) else { return }
        // Whoever lets go may hold a lock, and the failure's wording is the application's code: not within this call.
        connection.loop.post(.unanswered(connection, ticket))
    }

    /// Takes the right to answer; false where it is taken or the peer is gone.
    func claim() -> Bool {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return false }
        let (isPeerGone, released) = connection.cancellations.withLock { ($0.isPeerGone, $0.remove(ticket.number)) }
        _ = released
        return !isPeerGone
    }

    func onCancel(_ body: @escaping @Sendable () -> Void, isForHangUp: Bool) {
        if !isAnswered.load(ordering: .relaxed) { whenPeerGoes(body, isForHangUp: isForHangUp) }
    }

    /// Calls `body` on the loop once the peer is gone, unless the request's part in the connection is over before that.
    func whenPeerGoes(_ body: @escaping @Sendable () -> Void, isForHangUp: Bool) {
        let isAdded = connection.cancellations.withLock { $0.add(body, for: ticket.number, isForHangUp: isForHangUp) }
        if !isAdded { connection.loop.post(.perform { _ in body() }) }
    }
}
