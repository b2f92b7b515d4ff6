/// The queue of changes for a second tier, and the view that readers have of them. A value type without clock or I/O.
///
/// Writes are queued in groups between bulk removals that remove many values; a group has each key at most once. One step runs
/// at a time, so the changes of a key are applied in the order of the calls. A write that is superseded before it
/// begins is skipped.
struct WriteBehind<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The effect of a write.
    enum Change: Sendable {
        case put(TieredValue<Value>)
        case remove

        var isPut: Bool { if case .put = self { true } else { false } }
    }

    struct Write: Sendable {
        let number: UInt64
        let key: Key
        let name: [UInt8]
        let change: Change
    }

    /// The values that a bulk removal removes.
    enum Scope: Sendable {
        /// Removes nothing: waiting for such a removal waits for all earlier steps.
        case nothing
        case all
        case everything(schema: String?)
        case tag(CacheTag)
        case prefix([UInt8])
    }

    struct BulkRemoval: Sendable {
        let number: UInt64
        let scope: Scope
    }

    enum Step: Sendable {
        case writes([Write])
        case bulkRemoval(BulkRemoval)
    }

    /// A reader's view of a key.
    enum ReadResult: Sendable {
        case value(TieredValue<Value>)
        case absent
        /// The tier has to be read. A value that has one of these tags, or whose tags are unknown, counts as absent.
        case ask(except: Set<CacheTag>)
    }

    private enum Waiting: Sendable {
        case writes([Write], indices: [Key: Int])
        case bulkRemoval(BulkRemoval)
    }

    /// The most keys to remember for which the tier may hold an outdated value. Beyond that, the tier is emptied.
    private static var mostPossiblyStale: Int { 4_096 }
    /// The most possibly stale keys that are retried at a time.
    private static var mostTried: Int { 64 }

    /// The most failed bulk removals to remember. Beyond that, one removal of everything replaces them.
    private static var mostFailed: Int { 64 }

    private let limit: Int
    private var lastNumber: UInt64 = 0
    private var waiting: [Waiting] = []
    private var waitingPuts = 0
    /// The last unfinished write of each key.
    private var visible: [Key: Write] = [:]
    /// The unfinished bulk removals, including failed ones.
    private var pending: [UInt64: Scope] = [:]
    private var failed: [BulkRemoval] = []
    /// The keys for which the tier may hold an outdated value.
    private var possiblyStaleKeys: [Key: [UInt8]] = [:]
    private(set) var isDraining = false
    /// Writes to be freed without a lock.
    var dropped: [Write] = []

    /// - Parameter limit: the most values that may be queued.
    init(limit: Int) { self.limit = max(0, limit) }

    /// The number of unfinished writes.
    var count: Int { visible.count }

    /// - Returns: false if too many values are queued; then the key is only removed.
    mutating func write(_ key: Key, _ name: [UInt8], _ change: Change) -> Bool {
        takeUpFailed()
        return enqueue(key, name, change)
    }

    /// Queues failed bulk removals and removals before new changes, whether or not steps are in progress.
    private mutating func takeUpFailed() {
        if !failed.isEmpty {
            waiting = failed.map { .bulkRemoval($0) } + waiting
            failed = []
        }
        guard !possiblyStaleKeys.isEmpty else { return }
        for (key, name) in possiblyStaleKeys.prefix(Self.mostTried) where visible[key] == nil { _ = enqueue(key, name, .remove) }
    }

    private mutating func enqueue(_ key: Key, _ name: [UInt8], _ change: Change) -> Bool {
        let isKept = !change.isPut || waitingPuts < limit
        lastNumber += 1
        let write = Write(number: lastNumber, key: key, name: name, change: isKept ? change : .remove)
        if let old = visible.updateValue(write, forKey: key) { dropped.append(old) }
        if write.change.isPut { waitingPuts += 1 }
        guard case .writes(var writes, var indices)? = waiting.last else {
            waiting.append(.writes([write], indices: [key: 0]))
            return isKept
        }
        // Taken out of `waiting`, since the arrays would otherwise be copied.
        waiting.removeLast()
        if let index = indices[key] {
            if writes[index].change.isPut { waitingPuts -= 1 }
            dropped.append(writes[index])
            writes[index] = write
        } else {
            indices[key] = writes.count
            writes.append(write)
        }
        waiting.append(.writes(writes, indices: indices))
        return isKept
    }

    /// Readers no longer see the removed values once this returns.
    mutating func bulkRemoval(_ scope: Scope) -> UInt64 {
        takeUpFailed()
        switch scope {
        case .nothing: break
        case .all, .everything: forgetWrites()
        case .tag, .prefix:
            // The tier may hold an earlier value that the bulk removal does not cover, so the key is also removed by itself.
            for write in visible.values where isCovered(write, by: scope) { _ = enqueue(write.key, write.name, .remove) }
        }
        lastNumber += 1
        if case .nothing = scope {} else { pending[lastNumber] = scope }
        waiting.append(.bulkRemoval(BulkRemoval(number: lastNumber, scope: scope)))
        return lastNumber
    }

    /// Drops all queued writes, since they would be removed anyway.
    private mutating func forgetWrites() {
        dropped += visible.values
        visible = [:]
        waiting = waiting.filter { step in
            guard case .writes(let writes, _) = step else { return true }
            dropped += writes
            return false
        }
        waitingPuts = 0
    }

    private func isCovered(_ write: Write, by scope: Scope) -> Bool {
        guard case .put(let item) = write.change else { return false }
        return switch scope {
        case .nothing: false
        case .all, .everything: true
        case .prefix(let prefix): write.name.starts(with: prefix)
        case .tag(let tag): item.isTagged(tag)
        }
    }

    func lookUp(_ key: Key, _ name: [UInt8]) -> ReadResult {
        if let write = visible[key] {
            if case .put(let item) = write.change { return .value(item) }
            return .absent
        }
        if possiblyStaleKeys[key] != nil { return .absent }
        var tags: Set<CacheTag> = []
        for scope in pending.values {
            switch scope {
            case .nothing: break
            case .all, .everything: return .absent
            case .prefix(let prefix): if name.starts(with: prefix) { return .absent }
            case .tag(let tag): tags.insert(tag)
            }
        }
        return .ask(except: tags)
    }

    /// The value that is queued to be written.
    func value(_ key: Key) -> TieredValue<Value>? {
        if case .put(let item)? = visible[key]?.change { item } else { nil }
    }

    func isWriting(_ key: Key) -> Bool { visible[key] != nil }

    /// - Returns: whether the caller has to start taking steps.
    mutating func begin() -> Bool {
        guard !isDraining, !waiting.isEmpty else { return false }
        isDraining = true
        return true
    }

    /// The next step; nil if there is none, and then `begin()` has to be called again.
    mutating func next() -> Step? {
        guard !waiting.isEmpty else {
            isDraining = false
            return nil
        }
        switch waiting.removeFirst() {
        case .bulkRemoval(let bulkRemoval): return .bulkRemoval(bulkRemoval)
        case .writes(let writes, _):
            waitingPuts -= writes.count { $0.change.isPut }
            return .writes(writes)
        }
    }

    /// - Parameter isClean: whether the tier holds no outdated value for the key.
    mutating func finish(_ write: Write, isClean: Bool) {
        if isClean { possiblyStaleKeys[write.key] = nil } else { possiblyStaleKeys[write.key] = write.name }
        if visible[write.key]?.number == write.number, let old = visible.removeValue(forKey: write.key) { dropped.append(old) }
        guard possiblyStaleKeys.count > Self.mostPossiblyStale else { return }
        possiblyStaleKeys = [:]
        _ = bulkRemoval(.all)
    }

    mutating func finish(_ bulkRemoval: BulkRemoval, isDone: Bool) {
        guard isDone else {
            if pending[bulkRemoval.number] != nil { failed.append(bulkRemoval) }
            if failed.count > Self.mostFailed { mergeFailed() }
            return
        }
        pending[bulkRemoval.number] = nil
        switch bulkRemoval.scope {
        case .nothing, .tag, .prefix: break
        case .all: forgetFailed { if case .everything = $0 { false } else { true } }
        case .everything: forgetFailed { _ in true }
        }
    }

    /// Forgets failures: the tier was emptied, so a failed removal needs no retry.
    private mutating func forgetFailed(_ isInVain: (Scope) -> Bool) {
        possiblyStaleKeys = [:]
        for bulkRemoval in failed where isInVain(bulkRemoval.scope) { pending[bulkRemoval.number] = nil }
        failed.removeAll { isInVain($0.scope) }
    }

    /// Replaces all failed bulk removals with one that removes everything.
    private mutating func mergeFailed() {
        var schema: String?
        var isEverything = false
        for bulkRemoval in failed {
            pending[bulkRemoval.number] = nil
            guard case .everything(let new) = bulkRemoval.scope else { continue }
            isEverything = true
            schema = new ?? schema
        }
        lastNumber += 1
        let scope = isEverything ? Scope.everything(schema: schema) : .all
        failed = [BulkRemoval(number: lastNumber, scope: scope)]
        pending[lastNumber] = scope
    }
}
