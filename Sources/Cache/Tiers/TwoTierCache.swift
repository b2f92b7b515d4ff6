internal import Logging
public import Synchronization

/// A cache in memory before one on disk, behind one subscript.
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
/// Whatever does not wait for the second tier is synchronous. What is written is read back at once, and reaches the second tier in the
/// background, for each key in the order of the calls; ``flush()`` waits for it. A value that is found in the second tier is kept in the first
/// with its dates, its tags and what is left of its lifetime; all who ask for it at once share that. **What was read or loaded before a
/// key was written or removed is not kept after it.**
///
/// Both tiers may be your own. The second one belongs to this cache alone, at least the names that its keys get. If it fails, reads go on:
/// what cannot be read is a miss, and what could not be overwritten or removed is not read again. ``events``, ``statistics`` and the log tell.
///
/// **Threads:** every member may be used from any thread. No tier, closure or listener is called while a lock is held.
public final class TwoTierCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let primary: any PrimaryCacheTier<Key, TieredValue<Value>>
    /// The first tier where it is ours, which can be read without a detour.
    @usableFromInline let memory: Cache<Key, TieredValue<Value>>?
    let secondary: any SecondaryCacheTier
    let keys: CacheKeyCoding<Key>
    let values: CacheValueCoding<Value>
    let configuration: Configuration
    let state: Mutex<TwoTierState<Key, Value>>
    /// How many keys have changes of the first tier under way, so that readers need no lock where none has.
    @usableFromInline let moving = Atomic(0)
    /// How many keys have writes under way to the second tier.
    let staged = Atomic(0)
    let counters = TwoTierCounters()
    let hub = EventHub<TwoTierEvent<Key>>()

    /// A cache over two tiers, with names and bytes of your own.
    ///
    /// - Parameters:
    ///   - primary: where values are that are given out at once.
    ///   - secondary: where they are kept beyond that.
    ///   - keys: how a key gets its name in the second tier.
    ///   - values: how a value becomes bytes.
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

    deinit { hub.finish() }

    /// What goes wrong in the second tier from now on, for as long as the stream is listened to. At most 256 wait; then the oldest go.
    public var events: AsyncStream<TwoTierEvent<Key>> { hub.stream() }

    var clock: CacheClock { configuration.clock }

    /// Changes what is known, then lets go of what left, without the lock.
    func change<Result: Sendable>(_ body: (inout TwoTierState<Key, Value>) -> Result) -> Result {
        var dropped: [any Sendable] = []
        var writes: [WriteBehind<Key, Value>.Write] = []
        let result = state.withLock { state in
            let result = body(&state)
            swap(&dropped, &state.dropped)
            swap(&writes, &state.behind.dropped)
            moving.store(state.moves.count, ordering: .releasing)
            staged.store(state.behind.count, ordering: .releasing)
            return result
        }
        withExtendedLifetime((dropped, writes)) {}
        return result
    }

    /// The key's name in the second tier; nil where it has none.
    func name(_ key: Key) -> [UInt8]? {
        do {
            return try keys.name(key)
        } catch {
            tell(.nameless(key, error), "a key has no name", error)
            return nil
        }
    }

    func tell(_ event: TwoTierEvent<Key>, _ text: String, _ error: any Error) {
        configuration.logger.warning("\(text)", metadata: ["error": "\(error)"])
        hub.send(event)
    }
}

extension TwoTierCache where Value: Codable {
    /// A cache over two tiers; values are JSON, or the bytes or text that they are.
    public convenience init(
        primary: some PrimaryCacheTier<Key, TieredValue<Value>>, secondary: some SecondaryCacheTier, keys: CacheKeyCoding<Key>,
        _ configuration: Configuration = Configuration()
    ) {
        self.init(primary: primary, secondary: secondary, keys: keys, values: .standard, configuration)
    }
}

extension TwoTierCache where Key: DiskKey {
    /// A cache over two tiers, whose keys name themselves.
    public convenience init(
        primary: some PrimaryCacheTier<Key, TieredValue<Value>>, secondary: some SecondaryCacheTier, values: CacheValueCoding<Value>,
        _ configuration: Configuration = Configuration()
    ) {
        self.init(primary: primary, secondary: secondary, keys: .standard, values: values, configuration)
    }
}

extension TwoTierCache where Key: DiskKey, Value: Codable {
    /// A cache over two tiers, whose keys name themselves; values are JSON, or the bytes or text that they are.
    public convenience init(
        primary: some PrimaryCacheTier<Key, TieredValue<Value>>, secondary: some SecondaryCacheTier,
        _ configuration: Configuration = Configuration()
    ) {
        self.init(primary: primary, secondary: secondary, keys: .standard, values: .standard, configuration)
    }
}
