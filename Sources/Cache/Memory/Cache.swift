internal import Glibc
public import Synchronization

// Sendable: keys and values are. The memory behind `shards` is read and written only while the shard's lock or `writeLock` is held (see
// CacheShard), that behind `state` while `writeLock` is; the pointers themselves never change, and are freed by deinit alone.
/// An in-process cache, bounded by cost and by count, for keys and values of any kind.
///
/// ```swift
/// let pictures = Cache<URL, Picture>(costLimit: 64 << 20, cost: { $0.byteCount })
/// pictures.setValue(picture, forKey: url, lifetime: .after(.seconds(3_600)))
/// let again = pictures[url]
/// ```
///
/// **Costs** have one unit in the whole cache, mostly bytes. `[UInt8]`, `Data` and `String` cost their bytes; see
/// ``CostedValue``. For other types a cost limit takes a `cost` closure: without one each entry would cost 1, and a
/// limit meant as bytes would count entries.
///
/// **Eviction** is S3-FIFO (Yang et al., SOSP '23, <https://doi.org/10.1145/3600006.3613147>), weighted by cost. New
/// keys enter a small queue with a tenth of the space. Keys that are hit there move to the main queue. The others are
/// evicted, and their hashes are remembered for a while; a remembered key that is stored again enters the main queue at
/// once. Until the first eviction, the main queue also takes entries that no longer fit the small one. The limits hold
/// at every moment. Only pinned entries may exceed them.
///
/// **Lifetimes** are measured by a ``CacheClock``. A value whose lifetime is over is never returned. It is removed by a
/// read of its key, by later writes, or by ``removeExpired()``. There is no timer.
///
/// **Threads:** every member may be used from any thread, and waits for nothing but a short lock. A read takes the lock
/// of its key's shard alone; all writes share one lock. No closure, no listener and no value's deinitialiser runs while
/// a lock is held. Only `==` and `hash(into:)` of the key do, so these must not use the cache. The same calls with the
/// same clock cause the same evictions in every process.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline let shards: UnsafeMutableRawPointer
    @usableFromInline let shardMask: Int
    @usableFromInline let shardBits: Int
    @usableFromInline let state: UnsafeMutablePointer<CacheState<Key, Value>>
    /// Taken before a shard's lock, never after.
    @usableFromInline let writeLock = Mutex<Void>(())
    @usableFromInline let clock: CacheClock
    @usableFromInline let hasSystemClock: Bool
    @usableFromInline let defaultSpan: LifetimeLength
    /// Whether any entry ever ended by the wall clock. Until then the wall clock is not read.
    @usableFromInline let usesWall = Atomic(false)
    /// Computes the cost of a value whose write states none; nil if that is 1.
    @usableFromInline let statedCost: (@Sendable (Value) -> Int)?
    /// The lifetime of a value whose write does not state one.
    public let defaultLifetime: Lifetime

    /// Creates an empty cache without a cost limit.
    ///
    /// - Parameters:
    ///   - countLimit: the greatest number of values; less than zero is zero.
    ///   - lifetime: the lifetime of a value whose write does not state one.
    ///   - clock: the source of time.
    ///   - shards: the number of locks for reads, rounded up to a power of two, 1 … 256; by default four for each
    ///     processor.
    public convenience init(
        countLimit: Int = .max, lifetime: Lifetime = .standard, clock: CacheClock = .system, shards: Int? = nil
    ) {
        self.init(.max, countLimit, lifetime, clock, shards, statedCost: Self.statedCost)
    }

    /// Creates an empty cache with a cost limit, for values of any type.
    ///
    /// - Parameters:
    ///   - costLimit: the greatest total cost of all values, in the unit of `cost`; less than zero is zero.
    ///   - countLimit: the greatest number of values; less than zero is zero.
    ///   - lifetime: the lifetime of a value whose write does not state one.
    ///   - clock: the source of time.
    ///   - shards: the number of locks for reads, rounded up to a power of two, 1 … 256; by default four for each
    ///     processor.
    ///   - cost: computes the cost of a value whose write states none; less than 1 counts as 1. Called once for each
    ///     write, on the writing thread, while no lock is held.
    public convenience init(
        costLimit: Int, countLimit: Int = .max, lifetime: Lifetime = .standard, clock: CacheClock = .system, shards: Int? = nil,
        cost: @escaping @Sendable (Value) -> Int
    ) {
        self.init(costLimit, countLimit, lifetime, clock, shards, statedCost: cost)
    }

    init(
        _ costLimit: Int, _ countLimit: Int, _ lifetime: Lifetime, _ clock: CacheClock, _ shards: Int?,
        statedCost: (@Sendable (Value) -> Int)?
    ) {
        self.statedCost = statedCost
        let wanted = min(max(1, shards ?? max(16, 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN)))), 256)
        shardBits = Int.bitWidth - (wanted - 1).leadingZeroBitCount
        shardMask = 1 << shardBits - 1
        self.shards = .allocate(byteCount: (shardMask + 1) << Self.shardShift, alignment: 1 << Self.shardShift)
        state = .allocate(capacity: 1)
        state.initialize(to: CacheState(costLimit: costLimit, countLimit: countLimit))
        self.clock = clock
        hasSystemClock = clock.isSystem
        defaultLifetime = lifetime
        defaultSpan = LifetimeLength(lifetime)
        precondition(Self.lockSize + MemoryLayout<Shard>.size <= 1 << Self.shardShift, "a shard does not fit into its place")
        for number in 0...shardMask {
            lock(of: shard(number)).initialize(to: Mutex(()))
            shard(number).initialize(to: CacheShard())
        }
        if defaultSpan.timing == .wall { usesWall.store(true, ordering: .relaxed) }
    }

    deinit {
        for listener in state.pointee.listeners.values { listener.continuation.finish() }
        for number in 0...shardMask {
            shard(number).deinitialize(count: 1)
            lock(of: shard(number)).deinitialize(count: 1)
        }
        shards.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    @usableFromInline typealias Shard = CacheShard<Key, Value>

    /// Each shard has separate cache lines.
    @inlinable static var shardShift: Int { 7 }
    /// The size of the lock before each shard.
    @inlinable static var lockSize: Int { 16 }

    @inlinable
    func shard(_ number: Int) -> UnsafeMutablePointer<Shard> {
        (shards + (number << Self.shardShift) + Self.lockSize).assumingMemoryBound(to: Shard.self)
    }

    /// The lock that readers take.
    @inlinable
    func lock(of shard: UnsafeMutablePointer<Shard>) -> UnsafeMutablePointer<Mutex<Void>> {
        (UnsafeMutableRawPointer(shard) - Self.lockSize).assumingMemoryBound(to: Mutex<Void>.self)
    }

    @inlinable
    func shard(ofHash hash: Int) -> UnsafeMutablePointer<Shard> { shard(hash & shardMask) }

    @inlinable
    func shard(of entry: EntryReference) -> UnsafeMutablePointer<Shard> { shard(Int(entry.bits) & shardMask) }

    @inlinable
    func slot(_ entry: EntryReference) -> UnsafeMutablePointer<CacheSlot<Key, Value>> {
        shard(of: entry).pointee.slot(Int(entry.bits) >> shardBits)
    }

    @inlinable
    func record(_ entry: EntryReference) -> UnsafeMutablePointer<SlotRecord> {
        shard(of: entry).pointee.record(Int(entry.bits) >> shardBits)
    }

    @inlinable
    func reference(_ number: Int, _ hash: Int) -> EntryReference {
        EntryReference(bits: UInt32(truncatingIfNeeded: number << shardBits | (hash & shardMask)))
    }

    /// The cost of a value whose write states none. May call the user's closure, so no lock may be held.
    @inlinable
    func cost(of value: Value) -> Int { statedCost?(value) ?? 1 }

    /// The entry of a key, expired or not. Requires the write lock.
    @inlinable
    func find(_ key: Key, _ hash: Int) -> EntryReference {
        let number = shard(ofHash: hash).pointee.find(key, hash)
        return number < 0 ? .none : reference(number, hash)
    }

    /// Nanoseconds of the uptime clock. May call an injected clock, so no lock may be held.
    @inlinable
    func uptime() -> Int64 { hasSystemClock ? CacheClock.systemUptime() : clock.uptime() }

    /// The present time. May call an injected clock, so no lock may be held.
    @inlinable
    func readClock() -> ClockReading {
        ClockReading(uptime: uptime(), wall: usesWall.load(ordering: .relaxed) ? clock.wall() : .min)
    }
}
