internal import Synchronization

/// One load of one value, shared by all callers while it is in flight. Safe from any thread.
@usableFromInline
final class Load<Value: Sendable>: AnyLoad {
    private struct State {
        /// The callers without a result. A continuation is nil until its caller waits.
        var waiters: [UInt64: CheckedContinuation<Value, any Error>?] = [:]
        var lastWaiter: UInt64 = 0
        var task: Task<Void, Never>?
        var outcome: Result<Value, any Error>?
        /// Whether all callers have left. No caller may join any more.
        var isAbandoned = false
        /// Whether ``LoadTimer`` has the load.
        var isTimed = false
    }

    /// Nil if the tags are not known before the value is loaded.
    let tags: Set<CacheTag>?
    let key: (any Sendable)?
    private let state = Mutex(State())

    init(tags: Set<CacheTag>?, key: (any Sendable)?) {
        self.tags = tags
        self.key = key
    }

    var hasEnded: Bool { state.withLock { $0.outcome != nil } }

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

    /// Starts the load in a task, which is cancelled when the last caller leaves. The one place where loads run.
    ///
    /// - Parameters:
    ///   - timeout: after which the load fails with ``LoadError/timedOut(key:after:)``, and the task is cancelled; nil for
    ///     none.
    ///   - fail: ends the load in the cache, and stores nothing.
    ///   - run: loads, stores the result in the cache, and calls ``finish(_:)``.
    func begin(
        timeout: Duration? = nil, fail: @escaping @Sendable (any Error) -> Void = { _ in }, run: @escaping @Sendable () async -> Void
    ) {
        if let timeout {
            state.withLock { $0.isTimed = true }
            LoadTimer.shared.add(self, after: timeout) {
                let error = LoadError.timedOut(key: LoadWaits.text(self.key ?? "a value"), after: timeout)
                fail(error)
                self.finish(.failure(error))?.cancel()
            }
        }
        let task = Task { await LoadWaits.$current.withValue(self) { await run() } }
        let isUnwanted = state.withLock { state in
            if state.outcome == nil { state.task = task }
            return state.isAbandoned || state.outcome != nil
        }
        if isUnwanted { task.cancel() }
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

    /// Leaves without a result. If that was the last caller, the load is abandoned: `abandoned` is called, and the task
    /// cancelled.
    private func leave(_ waiter: UInt64, _ abandoned: () -> Void) {
        let (continuation, isLast) = state.withLock { state -> (CheckedContinuation<Value, any Error>?, Bool) in
            guard state.outcome == nil, let continuation = state.waiters.removeValue(forKey: waiter) else { return (nil, false) }
            state.isAbandoned = state.waiters.isEmpty
            return (continuation, state.isAbandoned)
        }
        continuation?.resume(throwing: CancellationError())
        guard isLast else { return }
        abandoned()
        state.withLock { $0.task }?.cancel()
    }

    /// Waits for the result as a caller that has joined. A cancelled caller leaves at once. A caller that is a load, and
    /// for which this one waits, leaves too.
    ///
    /// - Throws: the error of the load; `CancellationError`; ``LoadError/cyclic(keys:)``.
    func value(_ waiter: UInt64, abandoned: @escaping @Sendable () -> Void) async throws -> Value {
        guard let waiting = LoadWaits.current, !waiting.hasEnded else { return try await result(waiter, abandoned) }
        do {
            try LoadWaits.begin(waiting, for: self)
        } catch {
            leave(waiter, abandoned)
            throw error
        }
        defer { LoadWaits.end(waiting, for: self) }
        return try await result(waiter, abandoned)
    }

    private func result(_ waiter: UInt64, _ abandoned: @escaping @Sendable () -> Void) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(waiter, $0) }
        } onCancel: {
            leave(waiter, abandoned)
        }
    }

    /// Ends the load for all who wait. Only the first outcome counts.
    ///
    /// - Returns: the task, if it was known and the load had not ended.
    @discardableResult
    func finish(_ outcome: Result<Value, any Error>) -> Task<Void, Never>? {
        let (waiters, task, isTimed) = state.withLock { state in
            guard state.outcome == nil else { return ([CheckedContinuation<Value, any Error>](), nil as Task<Void, Never>?, false) }
            state.outcome = outcome
            defer { (state.task, state.isTimed) = (nil, false) }
            return (state.waiters.values.compactMap { $0 }, state.task, state.isTimed)
        }
        if isTimed { LoadTimer.shared.remove(self) }
        for waiter in waiters { waiter.resume(with: outcome) }
        return task
    }
}

/// The error of a load, and how long it is remembered.
@usableFromInline
struct LoadFailure: Sendable {
    let error: any Error
    /// In nanoseconds of the uptime clock.
    let until: Int64
}
