/// The state of a ``TwoTierCache`` besides its tiers. Guarded by the cache's lock, under which no tier is called.
struct TwoTierState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A change of the first tier that is not finished. One thread applies it and any later change of the key, so the
    /// tier always ends with the last one. Until then readers see the change here.
    struct MemoryWrite: Sendable {
        let key: Key
        let name: [UInt8]?
        /// Nil for a removal.
        var item: TieredValue<Value>?
        /// Whether `item` was already passed to the tier.
        var isApplied = false
    }

    /// The purpose of a load. A lookup does not wait for a fetch.
    enum Purpose: Hashable, Sendable, CaseIterable {
        /// Reads the second tier into the first.
        case lookup
        /// Looks up both tiers, or else fetches.
        case load
        case fetch
        case renewal

        /// Whether the load calls the second tier or a caller's closure, and does not only wait for other loads.
        var runsForeignCode: Bool { self == .lookup || self == .fetch }
    }

    struct LoadName: Hashable, Sendable {
        let purpose: Purpose
        let key: Key
    }

    var loads = LoadTable<LoadName, LoadResult<Value>>()
    var behind: WriteBehind<Key, Value>
    var memoryWrites: [Key: MemoryWrite] = [:]
    /// The waiters for bulk removals, by the removal's number.
    var waiters: [UInt64: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
    /// The first error of a queued write since the last flush.
    var firstError: (any Error)?
    /// Objects to be freed without the lock.
    var dropped: [any Sendable] = []

    init(stagedLimit: Int) { behind = WriteBehind(limit: stagedLimit) }

    /// Prevents loads of the key from storing their results.
    mutating func invalidateLoads(_ key: Key, _ purposes: [Purpose] = Purpose.allCases) {
        guard !loads.isEmpty else { return }
        for purpose in purposes {
            if let left = loads.end(LoadName(purpose: purpose, key: key)) { dropped += [left.name, left.load] as [any Sendable] }
        }
    }

    /// Prevents all loads from storing their results.
    mutating func invalidateAllLoads() { dropped.append(loads.endAll()) }

    mutating func invalidateAllLoads(taggedWith tag: CacheTag) { dropped.append(loads.endAll(taggedWith: tag)) }

    /// - Returns: whether the caller has to apply the change; otherwise another thread does.
    mutating func writeToMemory(_ key: Key, _ name: [UInt8]?, _ item: TieredValue<Value>?) -> Bool {
        let old = memoryWrites.updateValue(MemoryWrite(key: key, name: name, item: item), forKey: key)
        if let old { dropped.append(old) }
        return old == nil
    }

    /// The key's next change to apply to the first tier; nil if there is none.
    mutating func nextMemoryWrite(_ key: Key) -> MemoryWrite? {
        guard let memoryWrite = memoryWrites[key] else { return nil }
        guard memoryWrite.isApplied else {
            memoryWrites[key]?.isApplied = true
            return memoryWrite
        }
        dropped.append(memoryWrite)
        memoryWrites[key] = nil
        return nil
    }

    /// Turns the matching changes in progress into removals.
    mutating func removeMemoryWrites(where isRemoved: (MemoryWrite) -> Bool) {
        for (key, memoryWrite) in memoryWrites where memoryWrite.item != nil && isRemoved(memoryWrite) {
            _ = self.writeToMemory(key, memoryWrite.name, nil)
        }
    }
}
