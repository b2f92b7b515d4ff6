/// The state of a ``TwoTierCache`` besides its tiers. Guarded by the cache's lock, under which no tier is called.
struct TwoTierState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A change of the first tier that is not finished. One thread applies it and any later change of the key, so the
    /// tier always ends with the last one. Until then readers see the change here.
    struct Move: Sendable {
        let key: Key
        let name: [UInt8]?
        /// Nil for a removal.
        var item: TieredValue<Value>?
        /// Whether `item` was already passed to the tier.
        var isTold = false
    }

    /// The purpose of a load. A lookup does not wait for a fetch.
    enum Purpose: Hashable, Sendable, CaseIterable {
        /// Reads the second tier into the first.
        case lookup
        /// Looks up both tiers, or else fetches.
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
    /// The waiters for sweeps, by the sweep's number.
    var waiters: [UInt64: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
    /// The first error of a queued write since the last flush.
    var firstError: (any Error)?
    /// Objects to be freed without the lock.
    var dropped: [any Sendable] = []

    init(stagedLimit: Int) { behind = WriteBehind(limit: stagedLimit) }

    /// Prevents loads of the key from storing their results.
    mutating func fence(_ key: Key, _ purposes: [Purpose] = Purpose.allCases) {
        guard !loads.isEmpty else { return }
        for purpose in purposes {
            if let left = loads.end(LoadName(purpose: purpose, key: key)) { dropped += [left.name, left.load] as [any Sendable] }
        }
    }

    /// Prevents all loads from storing their results.
    mutating func fenceAll() { dropped.append(loads.endAll()) }

    mutating func fenceAll(taggedWith tag: String) { dropped.append(loads.endAll(taggedWith: tag)) }

    /// - Returns: whether the caller has to apply the change; otherwise another thread does.
    mutating func move(_ key: Key, _ name: [UInt8]?, _ item: TieredValue<Value>?) -> Bool {
        let old = moves.updateValue(Move(key: key, name: name, item: item), forKey: key)
        if let old { dropped.append(old) }
        return old == nil
    }

    /// The key's next change to apply to the first tier; nil if there is none.
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

    /// Turns the matching changes in progress into removals.
    mutating func removeMoves(where isRemoved: (Move) -> Bool) {
        for (key, move) in moves where move.item != nil && isRemoved(move) { _ = self.move(key, move.name, nil) }
    }
}

/// The result of a load.
struct Arrival<Value: Sendable>: Sendable {
    /// Where a result is to be stored.
    enum Keeping: Sendable {
        case nowhere, inMemory, inBoth
        /// The stored bytes could not be decoded.
        case discard
    }

    var item: TieredValue<Value>?
    var source: CacheSource
    var keeping: Keeping
}

/// The source of a value.
public enum CacheSource: String, Hashable, Sendable {
    /// The first tier.
    case memory
    /// The second tier.
    case disk
    /// A load.
    case network
}
