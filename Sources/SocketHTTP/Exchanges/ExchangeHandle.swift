import Dispatch
import Synchronization

/// The one right to answer a request, shared by an exchange's copies. If the last is released without an answer, the
/// answer is `500`.
final class ExchangeHandle: Sendable {
    let connection: Connection
    let ticket: Ticket
    /// How long an answer waits before it goes to the loop, in milliseconds.
    let delay: Int32
    private let isAnswered: Atomic<Bool>

    init(_ connection: Connection, _ ticket: Ticket, delay: Int32 = 0, isAnswered: Bool = false) {
        self.connection = connection
        self.ticket = ticket
        self.delay = delay
        self.isAnswered = Atomic(isAnswered)
    }

    /// Moves the right to answer to a new handle, which has none if this one has none.
    func passed(adding traits: Ticket.Traits, delay: Int32) -> ExchangeHandle {
        let wasAnswered = isAnswered.exchange(true, ordering: .relaxed)
        return ExchangeHandle(
            connection, Ticket(number: ticket.number, traits: ticket.traits.union(traits)), delay: delay, isAnswered: wasAnswered)
    }

    deinit {
        guard !isAnswered.load(ordering: .relaxed) else { return }
        guard !connection.cancellations.withLock({ $0.isPeerGone }) else { return }
        // The releasing code may hold a lock, and the failure's wording is the application's code: not within this
        // call.
        connection.loop.post(.unanswered(connection, ticket))
    }

    /// Takes the right to answer; false if it has been taken or the peer is gone.
    func claim() -> Bool {
        take() && endWait()
    }

    /// Takes the right to answer; false if it has been taken. The caller that gets it must also call `endWait()`.
    func take() -> Bool { !isAnswered.exchange(true, ordering: .relaxed) }

    /// Removes the actions that were to be called if the peer disconnected before the answer; false if the peer has
    /// disconnected.
    func endWait() -> Bool {
        let (isPeerGone, released) = connection.cancellations.withLock { ($0.isPeerGone, $0.remove(ticket.number)) }
        _ = released
        return !isPeerGone
    }

    /// Submits an answer to the loop, after the delay if there is one. The caller must have claimed the right to
    /// answer.
    func submit(_ answer: Answer) {
        guard delay > 0 else { return connection.loop.submit(.answer(connection, ticket, answer)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(delay))) { [connection, ticket] in
            connection.loop.submit(.answer(connection, ticket, answer))
        }
    }

    func onCancel(_ action: Cancellations.Action, isForDisconnect: Bool) {
        if !isAnswered.load(ordering: .relaxed) { whenPeerGoes(action, isForDisconnect: isForDisconnect) }
    }

    /// Performs `action` on the loop once the peer is gone, unless the request's part in the connection is over
    /// earlier.
    func whenPeerGoes(_ action: Cancellations.Action, isForDisconnect: Bool) {
        let isAdded = connection.cancellations.withLock { $0.add(action, for: ticket.number, isForDisconnect: isForDisconnect) }
        if !isAdded { connection.loop.post(.perform { _ in action.perform() }) }
    }
}
