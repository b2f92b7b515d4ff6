internal import FreshetPlatform
internal import Synchronization

extension Cache {
    /// The value of a key, from the cache or else from a load that concurrent callers share.
    ///
    /// The loaded value is stored, unless the key was written or removed since the load began, also by a tag, a condition or
    /// the removal of everything. Callers that joined before then still get it; a later caller begins a new load. Errors go
    /// to all callers and are not stored, unless `rememberingFailuresFor` is given. A caller that is cancelled gets
    /// `CancellationError` at once while the others keep waiting; when the last one is cancelled, the load is cancelled.
    ///
    /// A load may ask for other values, in this cache or another one. The call by which a load would wait for itself,
    /// directly or through other loads, throws ``LoadError/cyclic(keys:)``. `Task { }` and child tasks within a load count
    /// as the load; a wait in `Task.detached` is bounded by `timeout` alone.
    ///
    /// - Parameters:
    ///   - cost: computes the cost of a loaded value towards ``costLimit``; nil for the cost of a write that states
    ///     none.
    ///   - lifetime: how long the value may be returned; nil for ``defaultLifetime``.
    ///   - tags: tags by which ``removeAll(taggedWith:)`` finds the value.
    ///   - failureLifetime: how long an error is thrown again without another load (negative caching); nil for not at
    ///     all. At most 1,024 keys are remembered; writing or removing the key forgets its error. A
    ///     ``LoadError/cyclic(keys:)`` is never remembered.
    ///   - timeout: the time for the load, five minutes by default; nil for any time. Afterwards all callers get
    ///     ``LoadError/timedOut(key:after:)``, the load is cancelled, and the key can be loaded again. As all other
    ///     parameters, it is that of the caller that began the load. Measured by a clock that stops with the system.
    ///   - load: loads the value, in a separate task.
    /// - Throws: the error of `load`, a ``LoadError``, or `CancellationError` if the calling task was cancelled.
    @inlinable
    public func value(
        forKey key: Key, cost: (@Sendable (Value) -> Int)? = nil, lifetime: Lifetime? = nil, tags: Set<CacheTag> = [],
        rememberingFailuresFor failureLifetime: Duration? = nil, timeout: Duration? = .seconds(300),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let value = value(forKey: key) { return value }
        let request = LoadRequest(cost: cost, lifetime: lifetime, tags: tags, failureLifetime: failureLifetime, timeout: timeout)
        return try await loadedValue(key, request, load)
    }

    @usableFromInline
    func loadedValue(
        _ key: Key, _ request: LoadRequest<Value>, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        switch ask(key, request) {
        case .there(let value): return value
        case .failed(let failure): throw failure.error
        case .join(let load, let waiter): return try await wait(for: load, waiter, key)
        case .begin(let load, let waiter):
            load.begin(timeout: request.timeout, fail: { self.fail(load, key, request, $0) }) { await self.run(load, key, request, body) }
            return try await wait(for: load, waiter, key)
        }
    }

    /// The next step of a caller that found no value.
    private enum LoadStep: Sendable {
        case there(Value)
        case failed(LoadFailure)
        case join(Load<Value>, UInt64)
        case begin(Load<Value>, UInt64)
    }

    private func ask(_ key: Key, _ request: LoadRequest<Value>) -> LoadStep {
        let (hash, reading) = (key.hashValue, readClock())
        return write { released in
            let entry = find(key, hash)
            // The value may have been stored since the caller's lookup.
            if !entry.isNone, !isExpired(entry, at: reading) { return .there(slot(entry).pointee.value) }
            if let failure = state.pointee.failures[key] {
                if failure.until > reading.uptime { return .failed(failure) }
                forgetFailure(key, &released)
            }
            let (load, waiter, isNew, left) = state.pointee.loads.ask(key, tags: request.tags, key: key)
            released.keep(left)
            return isNew ? .begin(load, waiter) : .join(load, waiter)
        }
    }

    private func wait(for load: Load<Value>, _ waiter: UInt64, _ key: Key) async throws -> Value {
        try await load.value(waiter) {
            self.write { released in
                if self.state.pointee.loads.holds(load, key) { self.end(key, &released) }
            }
        }
    }

    private func run(
        _ load: Load<Value>, _ key: Key, _ request: LoadRequest<Value>, _ body: @Sendable () async throws -> Value
    ) async {
        do {
            let value = try await body()
            let (cost, span) = (max(1, request.cost?(value) ?? cost(of: value)), request.lifetime.map { LifetimeLength($0) } ?? defaultSpan)
            if span.timing == .wall { usesWall.store(true, ordering: .relaxed) }
            let (hash, reading) = (key.hashValue, readClock())
            write { released in
                guard state.pointee.loads.holds(load, key) else { return }
                end(key, &released)
                _ = store(value, key, hash, cost, span.begun(at: reading.uptime), request.tags, reading, &released)
            }
            load.finish(.success(value))
        } catch {
            fail(load, key, request, error)
            load.finish(.failure(error))
        }
    }

    /// Ends a load without a value, and remembers the error if the request asks for that.
    private func fail(_ load: Load<Value>, _ key: Key, _ request: LoadRequest<Value>, _ error: any Error) {
        let now = uptime()
        write { released in
            guard state.pointee.loads.holds(load, key) else { return }
            end(key, &released)
            guard let lifetime = request.failureLifetime, Self.isRememberable(error) else { return }
            remember(LoadFailure(error: error, until: now.saturatingAdd(lifetime.clampedNanoseconds)), of: key, now, &released)
        }
    }

    /// Whether a later load would fail too: a cancellation and a cycle say something about the callers, not the value.
    private static func isRememberable(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, LoadError.cyclic: false
        default: true
        }
    }
}

/// Prevents loads from storing outdated values. All members require the write lock.
extension Cache {
    /// Prevents a load of the key from storing its result, and forgets a remembered failure.
    @inlinable
    func fence(_ key: Key, _ released: inout DeferredRelease<Key, Value>) {
        if !state.pointee.loads.isEmpty || !state.pointee.failures.isEmpty { fenceOff(key, &released) }
    }

    @usableFromInline
    func fenceOff(_ key: Key, _ released: inout DeferredRelease<Key, Value>) {
        end(key, &released)
        forgetFailure(key, &released)
    }

    func fenceAll(_ released: inout DeferredRelease<Key, Value>) {
        released.keep(state.pointee.loads.endAll())
        released.keep(state.pointee.failures)
        state.pointee.failures = [:]
    }

    func fenceAll(taggedWith tag: CacheTag, _ released: inout DeferredRelease<Key, Value>) {
        released.keep(state.pointee.loads.endAll(taggedWith: tag))
    }

    private func end(_ key: Key, _ released: inout DeferredRelease<Key, Value>) {
        guard let (key, load) = state.pointee.loads.end(key) else { return }
        released.keep(key)
        released.keep(load)
    }

    private func forgetFailure(_ key: Key, _ released: inout DeferredRelease<Key, Value>) {
        guard let index = state.pointee.failures.index(forKey: key) else { return }
        released.keep(state.pointee.failures.remove(at: index))
    }

    /// Remembers a failure. Beyond 1,024, drops the one that would expire first.
    private func remember(_ failure: LoadFailure, of key: Key, _ now: Int64, _ released: inout DeferredRelease<Key, Value>) {
        if state.pointee.failures.count >= 1_024 {
            for (key, failure) in state.pointee.failures where failure.until <= now { forgetFailure(key, &released) }
        }
        if state.pointee.failures.count >= 1_024, let next = state.pointee.failures.min(by: { $0.value.until < $1.value.until }) {
            forgetFailure(next.key, &released)
        }
        released.keep(state.pointee.failures.updateValue(failure, forKey: key))
    }
}

/// The parameters of a load that apply to its result.
@usableFromInline
struct LoadRequest<Value: Sendable>: Sendable {
    let cost: (@Sendable (Value) -> Int)?
    let lifetime: Lifetime?
    let tags: Set<CacheTag>
    let failureLifetime: Duration?
    let timeout: Duration?

    @usableFromInline
    init(
        cost: (@Sendable (Value) -> Int)?, lifetime: Lifetime?, tags: Set<CacheTag>, failureLifetime: Duration?, timeout: Duration?
    ) {
        self.cost = cost
        self.lifetime = lifetime
        self.tags = tags
        self.failureLifetime = failureLifetime
        self.timeout = timeout
    }
}
