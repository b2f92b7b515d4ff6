internal import Synchronization

/// One load of one value, shared by all callers while it is in flight. Safe from any thread.
@usableFromInline
final class Load<Value: Sendable>: Sendable {
    private struct State {
        /// The callers without a result. A continuation is nil until its caller waits.
        var waiters: [UInt64: CheckedContinuation<Value, any Error>?] = [:]
        var lastWaiter: UInt64 = 0
        var task: Task<Void, Never>?
        var outcome: Result<Value, any Error>?
        /// Whether all callers have left. No caller may join any more.
        var isAbandoned = false
    }

    /// Nil if the tags are not known before the value is loaded.
    let tags: Set<String>?
    private let state = Mutex(State())

    init(tags: Set<String>?) { self.tags = tags }

    /// Joins the load.
    ///
    /// - Returns: the waiter's number; nil if the load was abandoned.
    func join() -> UInt64? {
        state.withLock { state in
            guard !state.isAbandoned else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = .some(nil)
            return state.lastWaiter
        }
    }

    /// Sets the task of the load, which is cancelled when the last caller leaves.
    func begin(_ task: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    private func wait(_ waiter: UInt64, _ continuation: CheckedContinuation<Value, any Error>) {
        let outcome: Result<Value, any Error>? = state.withLock { state in
            guard state.waiters[waiter] != nil else { return .failure(CancellationError()) }
            if let outcome = state.outcome { return outcome }
            state.waiters[waiter] = continuation
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Leaves without a result.
    ///
    /// - Returns: true if that was the last caller: the load is abandoned, and its task has to be cancelled.
    private func leave(_ waiter: UInt64) -> Bool {
        let (continuation, isLast) = state.withLock { state -> (CheckedContinuation<Value, any Error>?, Bool) in
            guard state.outcome == nil, let continuation = state.waiters.removeValue(forKey: waiter) else { return (nil, false) }
            state.isAbandoned = state.waiters.isEmpty
            return (continuation, state.isAbandoned)
        }
        continuation?.resume(throwing: CancellationError())
        return isLast
    }

    /// Waits for the result as a caller that has joined. A cancelled caller leaves at once. If it was the last one, the
    /// load is abandoned: `abandoned` is called, and the task cancelled.
    func value(_ waiter: UInt64, abandoned: @escaping @Sendable () -> Void) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(waiter, $0) }
        } onCancel: {
            guard leave(waiter) else { return }
            abandoned()
            cancel()
        }
    }

    private func cancel() { state.withLock { $0.task }?.cancel() }

    func finish(_ outcome: Result<Value, any Error>) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            state.task = nil
            return state.waiters.values.compactMap { $0 }
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }
}

/// The error of a load, and how long it is remembered.
@usableFromInline
struct LoadFailure: Sendable {
    let error: any Error
    /// In nanoseconds of the uptime clock.
    let until: Int64
}
