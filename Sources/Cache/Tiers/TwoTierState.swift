/// What a ``TwoTierCache`` knows beside its tiers: guarded by its lock, under which no tier is called.
struct TwoTierState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A change of the first tier that is not done. One thread does it, and whatever comes for the key meanwhile, so the tier always ends
    /// with the last; until then readers see it here.
    struct Move: Sendable {
        let key: Key
        let name: [UInt8]?
        /// Nil for a removal.
        var item: TieredValue<Value>?
        /// Whether the tier was told the latest.
        var isTold = false
    }

    /// What a load is for, since those who look something up do not wait for those who fetch it.
    enum Purpose: Hashable, Sendable, CaseIterable {
        /// Out of the second tier into the first.
        case lookup
        /// Out of both, or else fetched.
        case load
        case fetch
        case renewal
    }

    struct LoadName: Hashable, Sendable {
        let purpose: Purpose
        let key: Key
    }

    var loads = LoadTable<LoadName, Arrival<Value>>()
    var behind: WriteBehind<Key, Value>
    var moves: [Key: Move] = [:]
    /// Those who wait for a sweep, by its number.
    var waiters: [UInt64: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
    /// Of a write for which nobody waited, since the last flush.
    var firstError: (any Error)?
    /// What was let go of: to be freed without the lock.
    var dropped: [any Sendable] = []

    init(stagedLimit: Int) { behind = WriteBehind(limit: stagedLimit) }

    /// What is loaded for the key is not to be stored.
    mutating func fence(_ key: Key, _ purposes: [Purpose] = Purpose.allCases) {
        guard !loads.isEmpty else { return }
        for purpose in purposes {
            if let left = loads.end(LoadName(purpose: purpose, key: key)) { dropped += [left.name, left.load] as [any Sendable] }
        }
    }

    /// The same for all keys.
    mutating func fenceAll() { dropped.append(loads.endAll()) }

    mutating func fenceAll(taggedWith tag: String) { dropped.append(loads.endAll(taggedWith: tag)) }

    /// - Returns: whether the caller is to tell the first tier; otherwise another thread does.
    mutating func move(_ key: Key, _ name: [UInt8]?, _ item: TieredValue<Value>?) -> Bool {
        let old = moves.updateValue(Move(key: key, name: name, item: item), forKey: key)
        if let old { dropped.append(old) }
        return old == nil
    }

    /// The next change of the key that the first tier is to be told; nil when there is none any more.
    mutating func nextMove(_ key: Key) -> Move? {
        guard let move = moves[key] else { return nil }
        guard move.isTold else {
            moves[key]?.isTold = true
            return move
        }
        dropped.append(move)
        moves[key] = nil
        return nil
    }

    /// Turns the changes under way of many keys into removals.
    mutating func removeMoves(where isRemoved: (Move) -> Bool) {
        for (key, move) in moves where move.item != nil && isRemoved(move) { _ = self.move(key, move.name, nil) }
    }
}

/// What a load brought.
struct Arrival<Value: Sendable>: Sendable {
    /// Where it is to be kept.
    enum Keeping: Sendable {
        case nowhere, inMemory, inBoth
        /// What is stored is no value.
        case discard
    }

    var item: TieredValue<Value>?
    var source: CacheSource
    var keeping: Keeping
}

/// Where a value came from.
public enum CacheSource: String, Hashable, Sendable {
    /// The first tier.
    case memory
    /// The second tier.
    case disk
    /// A load.
    case network
}
