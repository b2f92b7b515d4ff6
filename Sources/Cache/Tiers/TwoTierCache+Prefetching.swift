/// The result of ``TwoTierCache/prefetch(_:atOnce:lifetime:tags:protection:orLoad:)``: each key is in exactly one list.
public struct PrefetchResult<Key: Hashable & Sendable>: Sendable {
    /// Keys whose values were in memory.
    public var inMemory: [Key] = []
    /// Keys whose values were in the second tier.
    public var onDisk: [Key] = []
    /// Keys whose values were loaded.
    public var loaded: [Key] = []
    /// Keys without a value in either tier, where no load was given.
    public var missing: [Key] = []
    /// Keys whose values could not be loaded.
    public var failed: [Key: any Error] = [:]
    /// Keys whose lookup was not started or not finished, since the task was cancelled.
    public var cancelled: [Key] = []
}

extension TwoTierCache {
    /// Brings values into memory: from the second tier, or else from a load.
    ///
    /// Values that exceed the limits of memory evict others, so request no more than fit. When the task is cancelled,
    /// lookups in flight are abandoned and the remaining ones are not started.
    ///
    /// - Parameters:
    ///   - keys: the keys; duplicates count once.
    ///   - atOnce: how many lookups run concurrently, 1 or more.
    ///   - load: loads a value that is in neither tier; nil to load nothing. For the other parameters see
    ///     ``value(forKey:lifetime:tags:protection:orLoad:)``.
    public func prefetch(
        _ keys: some Sequence<Key>, atOnce: Int = 8, lifetime: Lifetime? = nil, tags: Set<CacheTag> = [], protection: DiskProtection? = nil,
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
        _ key: Key, _ lifetime: Lifetime?, _ tags: Set<CacheTag>, _ protection: DiskProtection?,
        _ load: (@Sendable (Key) async throws -> Value)?
    ) async -> Result<CacheSource?, any Error> {
        do {
            if let found = await find(key) { return .success(found.source) }
            try Task.checkCancellation()
            guard let load else { return .success(nil) }
            return .success(try await loaded(key, lifetime, tags, protection) { try await load(key) }.source)
        } catch {
            // Any error that the load itself throws counts as a failure, `CancellationError` too.
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
