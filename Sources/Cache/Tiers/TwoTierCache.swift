internal import FreshetPlatform
internal import Logging
public import Synchronization

/// A cache in memory in front of one on disk, behind one subscript.
///
/// ```swift
/// let disk = try await DiskCache.open("/var/cache/app")
/// let users = TwoTierCache<Int, User>(primary: Cache(countLimit: 10_000), secondary: disk)
/// users[7] = user                              // in memory now, on disk soon
/// let quick = users[7]                         // memory alone, at once
/// let user = await users.value(forKey: 7)      // memory, or else the disk
/// let other = try await users.value(forKey: 8) { try await download(8) }
/// ```
///
/// Members that do not wait for the second tier are synchronous. A write is readable at once and reaches the second
/// tier in the background, for each key in the order of the calls; ``flush()`` waits for it. A value that is found in
/// the second tier is kept in the first one with its dates, its tags and the rest of its lifetime; concurrent callers
/// share the lookup. **The result of a lookup or load that began before a write or removal of its key is not stored.**
///
/// Both tiers may be custom types. The second tier, or at least the names of the keys, must belong to this cache alone.
/// If it fails, reads go on: a value that cannot be read is a miss, and one that could not be overwritten or removed is
/// not read again. ``events``, ``statistics`` and the log report failures.
///
/// **Threads:** every member may be used from any thread. No tier, closure or listener is called while a lock is held.
public final class TwoTierCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let primary: any PrimaryCacheTier<Key, TieredValue<Value>>
    /// The first tier if it is a `Cache`, which can be read directly.
    @usableFromInline let memory: Cache<Key, TieredValue<Value>>?
    let secondary: any SecondaryCacheTier
    let keys: CacheKeyCoding<Key>
    let values: CacheValueCoding<Value>
    let configuration: Configuration
    let state: Mutex<TwoTierState<Key, Value>>
    /// The number of keys whose change of the first tier is in progress. Readers take no lock while it is zero.
    @usableFromInline let memoryWriteCount = Atomic(0)
    /// The number of keys whose write to the second tier is queued or in progress.
    let staged = Atomic(0)
    let counters = TwoTierCounters()
    let broadcast = Broadcast<TwoTierEvent<Key>>(keepingLatest: 256)

    /// Creates a cache over two tiers, with custom names and encodings.
    ///
    /// - Parameters:
    ///   - primary: the tier in memory, which is read first.
    ///   - secondary: the tier that outlives the process.
    ///   - keys: derives a key's name in the second tier.
    ///   - values: encodes and decodes values.
    public init(
        primary: some PrimaryCacheTier<Key, TieredValue<Value>>, secondary: some SecondaryCacheTier, keys: CacheKeyCoding<Key>,
        values: CacheValueCoding<Value>, _ configuration: Configuration = Configuration()
    ) {
        self.primary = primary
        memory = primary as? Cache<Key, TieredValue<Value>>
        self.secondary = secondary
        self.keys = keys
        self.values = values
        self.configuration = configuration
        state = Mutex(TwoTierState(stagedLimit: configuration.stagedLimit))
    }

    deinit { broadcast.finish() }

    /// The failures of the second tier from now on. The stream buffers at most 256 events, then drops the oldest.
    public var events: AsyncStream<TwoTierEvent<Key>> { broadcast.stream() }

    var clock: CacheClock { configuration.clock }

    /// Changes the state under the lock, then frees the dropped objects without it.
    func change<Result: Sendable>(_ body: (inout TwoTierState<Key, Value>) -> Result) -> Result {
        var dropped: [any Sendable] = []
        var writes: [WriteBehind<Key, Value>.Write] = []
        let result = state.withLock { state in
            let result = body(&state)
            swap(&dropped, &state.dropped)
            swap(&writes, &state.behind.dropped)
            memoryWriteCount.store(state.memoryWrites.count, ordering: .releasing)
            staged.store(state.behind.count, ordering: .releasing)
            return result
        }
        withExtendedLifetime((dropped, writes)) {}
        return result
    }

    /// The key's name in the second tier; nil if it has none.
    func name(_ key: Key) -> [UInt8]? {
        do {
            return try keys.name(key)
        } catch {
            report(.nameless(key, error), "a key has no name", error)
            return nil
        }
    }

    func report(_ event: TwoTierEvent<Key>, _ text: String, _ error: any Error) {
        configuration.logger.warning("\(text)", metadata: ["error": "\(error)"])
        broadcast.send(event)
    }
}

extension TwoTierCache where Value: Codable {
    /// Creates a cache over two tiers; values are stored as JSON, bytes and text as they are.
    public convenience init(
        primary: some PrimaryCacheTier<Key, TieredValue<Value>>, secondary: some SecondaryCacheTier, keys: CacheKeyCoding<Key>,
        _ configuration: Configuration = Configuration()
    ) {
        self.init(primary: primary, secondary: secondary, keys: keys, values: .standard, configuration)
    }
}

extension TwoTierCache where Key: DiskKey {
    /// Creates a cache over two tiers, whose keys provide their names.
    public convenience init(
        primary: some PrimaryCacheTier<Key, TieredValue<Value>>, secondary: some SecondaryCacheTier, values: CacheValueCoding<Value>,
        _ configuration: Configuration = Configuration()
    ) {
        self.init(primary: primary, secondary: secondary, keys: .standard, values: values, configuration)
    }
}

extension TwoTierCache where Key: DiskKey, Value: Codable {
    /// Creates a cache over two tiers, whose keys provide their names; values are stored as JSON, bytes and text as
    /// they are.
    public convenience init(
        primary: some PrimaryCacheTier<Key, TieredValue<Value>>, secondary: some SecondaryCacheTier,
        _ configuration: Configuration = Configuration()
    ) {
        self.init(primary: primary, secondary: secondary, keys: .standard, values: .standard, configuration)
    }
}
