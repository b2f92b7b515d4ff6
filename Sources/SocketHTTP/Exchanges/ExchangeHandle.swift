import Synchronization

/// The one right to answer a request, shared by an exchange's copies. If the last is released without an answer, the
/// answer is `500`.
final class ExchangeHandle: Sendable {
    let connection: Connection
    let slot: RequestSlot
    private let isAnswered = Atomic(false)

    init(_ connection: Connection, _ slot: RequestSlot) {
        self.connection = connection
        self.slot = slot
    }

    deinit {
        guard !isAnswered.load(ordering: .relaxed) else { return }
        guard !connection.cancellations.withLock({ $0.isPeerGone }) else { return }
        // The releasing code may hold a lock, and the failure's wording is the application's code: not within this
        // call.
        connection.loop.post(.unanswered(connection, slot))
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
        let (isPeerGone, released) = connection.cancellations.withLock { ($0.isPeerGone, $0.remove(slot.number)) }
        _ = released
        return !isPeerGone
    }

    /// Submits an answer to the loop. The caller must have claimed the right to answer.
    func submit(_ answer: QueuedResponse) { connection.loop.submit(.answer(connection, slot, answer)) }

    func onCancel(_ action: Cancellations.Action, isForDisconnect: Bool) {
        if !isAnswered.load(ordering: .relaxed) { whenPeerGoes(action, isForDisconnect: isForDisconnect) }
    }

    /// Performs `action` on the loop once the peer is gone, unless the request's part in the connection is over
    /// earlier.
    func whenPeerGoes(_ action: Cancellations.Action, isForDisconnect: Bool) {
        let isAdded = connection.cancellations.withLock { $0.add(action, for: slot.number, isForDisconnect: isForDisconnect) }
        if !isAdded { connection.loop.post(.perform { _ in action.perform() }) }
    }
}
