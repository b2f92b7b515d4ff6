internal import Synchronization

extension Cache {
    /// The value of a key, from here or else from a load that all who ask at the same time share.
    ///
    /// What was loaded is stored, unless the key was written or removed since the load began, or all that it may be a part of: then those who
    /// asked before get it all the same, and who asks afterwards begins a new load. Errors go to all who wait and are not stored, unless you
    /// ask for it. When one who waits is cancelled, it gets `CancellationError` at once and the others wait on; when the last one goes, the
    /// load is cancelled.
    ///
    /// - Parameters:
    ///   - cost: what a loaded value counts towards ``costLimit``; nil for the same as in a write without one.
    ///   - lifetime: how long it is given out; nil for ``defaultLifetime``.
    ///   - tags: names under which ``removeAll(taggedWith:)`` finds it.
    ///   - failureLifetime: how long an error is thrown again without another load (negative caching); nil for not at all. The latest 1,024
    ///     keys are kept; writing or removing the key forgets it.
    ///   - load: brings the value; it runs in a task of its own.
    /// - Throws: what `load` throws, or `CancellationError` when the calling task was cancelled.
    @inlinable
    public func value(
        forKey key: Key, cost: (@Sendable (Value) -> Int)? = nil, lifetime: Lifetime? = nil, tags: Set<String> = [],
        rememberingFailuresFor failureLifetime: Duration? = nil, orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let value = value(forKey: key) { return value }
        return try await loadedValue(key, LoadRequest(cost: cost, lifetime: lifetime, tags: tags, failureLifetime: failureLifetime), load)
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
            load.begin(Task { await self.run(load, key, request, body) })
            return try await wait(for: load, waiter, key)
        }
    }

    /// What one who found nothing has to do.
    private enum Answer: Sendable {
        case there(Value)
        case failed(LoadFailure)
        case join(Load<Value>, UInt64)
        case begin(Load<Value>, UInt64)
    }

    private func ask(_ key: Key, _ request: LoadRequest<Value>) -> Answer {
        let (hash, moment) = (key.hashValue, moment())
        return write { leaving in
            let entry = find(key, hash)
            // It may have come between the read and this.
            if !entry.isNone, !isOver(entry, at: moment) { return .there(slot(entry).pointee.value) }
            if let failure = state.pointee.failures[key] {
                if failure.until > moment.uptime { return .failed(failure) }
                forgetFailure(key, &leaving)
            }
            let (load, waiter, isNew, left) = state.pointee.loads.ask(key, tags: request.tags)
            leaving.keep(left)
            return isNew ? .begin(load, waiter) : .join(load, waiter)
        }
    }

    private func wait(for load: Load<Value>, _ waiter: UInt64, _ key: Key) async throws -> Value {
        try await load.value(waiter) {
            self.write { leaving in
                if self.state.pointee.loads.holds(load, key) { self.end(key, &leaving) }
            }
        }
    }

    private func run(
        _ load: Load<Value>, _ key: Key, _ request: LoadRequest<Value>, _ body: @Sendable () async throws -> Value
    ) async {
        do {
            let value = try await body()
            let (cost, span) = (max(1, request.cost?(value) ?? cost(of: value)), request.lifetime.map { Span($0) } ?? defaultSpan)
            if span.timing == .wall { usesWall.store(true, ordering: .relaxed) }
            let (hash, moment) = (key.hashValue, moment())
            write { leaving in
                guard state.pointee.loads.holds(load, key) else { return }
                end(key, &leaving)
                _ = store(value, key, hash, cost, span.begun(at: moment.uptime), request.tags, moment, &leaving)
            }
            load.finish(.success(value))
        } catch {
            let now = uptime()
            write { leaving in
                guard state.pointee.loads.holds(load, key) else { return }
                end(key, &leaving)
                if let lifetime = request.failureLifetime, !(error is CancellationError) {
                    remember(LoadFailure(error: error, until: now.saturatingAdd(lifetime.clampedNanoseconds)), of: key, now, &leaving)
                }
            }
            load.finish(.failure(error))
        }
    }
}

/// What keeps loads from storing what is outdated; all of it takes the write lock to call.
extension Cache {
    /// A load of the key under way will not be stored, and no failure of one is believed any more.
    @inlinable
    func fence(_ key: Key, _ leaving: inout Leaving<Key, Value>) {
        if !state.pointee.loads.isEmpty || !state.pointee.failures.isEmpty { fenceOff(key, &leaving) }
    }

    @usableFromInline
    func fenceOff(_ key: Key, _ leaving: inout Leaving<Key, Value>) {
        end(key, &leaving)
        forgetFailure(key, &leaving)
    }

    func fenceAll(_ leaving: inout Leaving<Key, Value>) {
        leaving.keep(state.pointee.loads.endAll())
        leaving.keep(state.pointee.failures)
        state.pointee.failures = [:]
    }

    func fenceAll(taggedWith tag: String, _ leaving: inout Leaving<Key, Value>) {
        leaving.keep(state.pointee.loads.endAll(taggedWith: tag))
    }

    private func end(_ key: Key, _ leaving: inout Leaving<Key, Value>) {
        guard let (key, load) = state.pointee.loads.end(key) else { return }
        leaving.keep(key)
        leaving.keep(load)
    }

    private func forgetFailure(_ key: Key, _ leaving: inout Leaving<Key, Value>) {
        guard let index = state.pointee.failures.index(forKey: key) else { return }
        leaving.keep(state.pointee.failures.remove(at: index))
    }

    /// Bounded: beyond 1,024 the one goes that would be believed the shortest.
    private func remember(_ failure: LoadFailure, of key: Key, _ now: Int64, _ leaving: inout Leaving<Key, Value>) {
        if state.pointee.failures.count >= 1_024 {
            for (key, failure) in state.pointee.failures where failure.until <= now { forgetFailure(key, &leaving) }
        }
        if state.pointee.failures.count >= 1_024, let next = state.pointee.failures.min(by: { $0.value.until < $1.value.until }) {
            forgetFailure(next.key, &leaving)
        }
        leaving.keep(state.pointee.failures.updateValue(failure, forKey: key))
    }
}

/// What is to be done with a value once it was loaded.
@usableFromInline
struct LoadRequest<Value: Sendable>: Sendable {
    let cost: (@Sendable (Value) -> Int)?
    let lifetime: Lifetime?
    let tags: Set<String>
    let failureLifetime: Duration?

    @usableFromInline
    init(cost: (@Sendable (Value) -> Int)?, lifetime: Lifetime?, tags: Set<String>, failureLifetime: Duration?) {
        self.cost = cost
        self.lifetime = lifetime
        self.tags = tags
        self.failureLifetime = failureLifetime
    }
}
