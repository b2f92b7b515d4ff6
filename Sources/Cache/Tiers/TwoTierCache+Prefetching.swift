/// What became of the keys of a ``TwoTierCache/prefetch(_:atOnce:lifetime:tags:protection:orLoad:)``, each in one of these.
public struct PrefetchResult<Key: Hashable & Sendable>: Sendable {
    /// They were in memory.
    public var inMemory: [Key] = []
    /// They were in the second tier.
    public var onDisk: [Key] = []
    /// They were loaded.
    public var loaded: [Key] = []
    /// They are nowhere, and nothing was to load them.
    public var missing: [Key] = []
    /// They could not be loaded.
    public var failed: [Key: any Error] = [:]
    /// They were not looked for, or not to the end, since the task was cancelled.
    public var cancelled: [Key] = []
}

extension TwoTierCache {
    /// Brings values into memory: from the second tier, or else from a load.
    ///
    /// What does not fit there pushes others out, so ask for no more than fits. When the task is cancelled, what is under way is let go
    /// of, and the rest is not looked for.
    ///
    /// - Parameters:
    ///   - keys: each counts once.
    ///   - atOnce: how many are looked for at the same time, 1 or more.
    ///   - load: brings what is in neither tier; nil for nothing. See ``value(forKey:lifetime:tags:protection:orLoad:)`` for what comes with it.
    public func prefetch(
        _ keys: some Sequence<Key>, atOnce: Int = 8, lifetime: Lifetime? = nil, tags: Set<String> = [], protection: DiskProtection? = nil,
        orLoad load: (@Sendable (Key) async throws -> Value)? = nil
    ) async -> PrefetchResult<Key> {
        var seen: Set<Key> = []
        var waiting = keys.filter { seen.insert($0).inserted }[...]
        var result = PrefetchResult<Key>()
        await withTaskGroup(of: (Key, Result<CacheSource?, any Error>).self) { group in
            func begin() {
                guard !Task.isCancelled, let key = waiting.popFirst() else { return }
                group.addTask { (key, await self.fetchSource(key, lifetime, tags, protection, load)) }
            }
            for _ in 0..<min(max(1, atOnce), waiting.count) { begin() }
            while let (key, outcome) = await group.next() {
                result.add(key, outcome)
                begin()
            }
        }
        result.cancelled += waiting
        return result
    }

    private func fetchSource(
        _ key: Key, _ lifetime: Lifetime?, _ tags: Set<String>, _ protection: DiskProtection?,
        _ load: (@Sendable (Key) async throws -> Value)?
    ) async -> Result<CacheSource?, any Error> {
        do {
            if let found = await find(key) { return .success(found.source) }
            try Task.checkCancellation()
            guard let load else { return .success(nil) }
            return .success(try await loaded(key, lifetime, tags, protection) { try await load(key) }.source)
        } catch {
            // What the load throws by itself is a failure, whatever it is.
            return .failure(Task.isCancelled ? CancellationError() : error)
        }
    }
}

extension PrefetchResult {
    fileprivate mutating func add(_ key: Key, _ outcome: Result<CacheSource?, any Error>) {
        switch outcome {
        case .success(.memory): inMemory.append(key)
        case .success(.disk): onDisk.append(key)
        case .success(.network): loaded.append(key)
        case .success(nil): missing.append(key)
        case .failure(is CancellationError): cancelled.append(key)
        case .failure(let error): failed[key] = error
        }
    }
}
