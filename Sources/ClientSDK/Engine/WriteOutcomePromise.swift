internal import FreshetWire
internal import Synchronization

/// The outcome of a write, for which any number of tasks may wait, before and after it has come.
final class WriteOutcomePromise: Sendable {
    typealias Outcome = Result<PendingWrite.Outcome, ClientError>

    private struct State {
        var outcome: Outcome?
        var waiters: [Int: CheckedContinuation<Outcome, any Error>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    /// Resolves the promise; only the first outcome counts.
    func resolve(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return [CheckedContinuation<Outcome, any Error>]() }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    func value() async throws -> PendingWrite.Outcome {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known: Result<Outcome, any Error>? = state.withLock { state in
                    if let outcome = state.outcome { return .success(outcome) }
                    // The cancellation handler below may have run already, and found no waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[id] = continuation
                    return nil
                }
                if let known { continuation.resume(with: known) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }.get()
    }
}
