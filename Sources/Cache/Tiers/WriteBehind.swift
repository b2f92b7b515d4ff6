/// What is on its way to a second tier, in order, and what readers see of it meanwhile. A value without clock or I/O.
///
/// Writes wait in groups, each key at most once in a group, between sweeps that remove many. One step is under way at a time, so what
/// concerns a key happens in the order of the calls; a write that another overtakes before it begins is left out.
struct WriteBehind<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a write does.
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

    /// What a sweep removes.
    enum Scope: Sendable {
        /// Nothing: who waits for it waits for all before it.
        case nothing
        case all
        case everything(schema: String?)
        case tag(String)
        case prefix([UInt8])
    }

    struct Sweep: Sendable {
        let number: UInt64
        let scope: Scope
    }

    enum Step: Sendable {
        case writes([Write])
        case sweep(Sweep)
    }

    /// What a reader finds for a key here.
    enum Sight: Sendable {
        case value(TieredValue<Value>)
        case absent
        /// The tier knows, but for what has one of these tags, or may have.
        case ask(except: Set<String>)
    }

    private enum Waiting: Sendable {
        case writes([Write], places: [Key: Int])
        case sweep(Sweep)
    }

    /// How many keys may be remembered of which the tier holds what may be outdated, before it is emptied instead.
    private static var mostDoubted: Int { 4_096 }
    /// Most doubted keys that are tried again at a time.
    private static var mostTried: Int { 64 }

    /// How many sweeps may have failed before one of everything is to take their place.
    private static var mostFailed: Int { 64 }

    private let limit: Int
    private var lastNumber: UInt64 = 0
    private var waiting: [Waiting] = []
    private var waitingPuts = 0
    /// The last write of each key that is not done.
    private var visible: [Key: Write] = [:]
    /// The sweeps that are not done, those that failed too.
    private var pending: [UInt64: Scope] = [:]
    private var failed: [Sweep] = []
    /// The keys of which the tier may hold an outdated value.
    private var doubted: [Key: [UInt8]] = [:]
    private(set) var isDraining = false
    /// What was let go of: to be freed without a lock.
    var dropped: [Write] = []

    /// - Parameter limit: the most values that may wait.
    init(limit: Int) { self.limit = max(0, limit) }

    /// How many writes are not done.
    var count: Int { visible.count }

    /// - Returns: false if too many values wait: then the key is only removed.
    mutating func write(_ key: Key, _ name: [UInt8], _ change: Change) -> Bool {
        takeUpFailed()
        return enqueue(key, name, change)
    }

    /// What failed is tried again before what comes, whether steps are being taken or not.
    private mutating func takeUpFailed() {
        if !failed.isEmpty {
            waiting = failed.map { .sweep($0) } + waiting
            failed = []
        }
        guard !doubted.isEmpty else { return }
        for (key, name) in doubted.prefix(Self.mostTried) where visible[key] == nil { _ = enqueue(key, name, .remove) }
    }

    private mutating func enqueue(_ key: Key, _ name: [UInt8], _ change: Change) -> Bool {
        let isKept = !change.isPut || waitingPuts < limit
        lastNumber += 1
        let write = Write(number: lastNumber, key: key, name: name, change: isKept ? change : .remove)
        if let old = visible.updateValue(write, forKey: key) { dropped.append(old) }
        if write.change.isPut { waitingPuts += 1 }
        guard case .writes(var writes, var places)? = waiting.last else {
            waiting.append(.writes([write], places: [key: 0]))
            return isKept
        }
        // Otherwise the arrays would be copied.
        waiting.removeLast()
        if let place = places[key] {
            if writes[place].change.isPut { waitingPuts -= 1 }
            dropped.append(writes[place])
            writes[place] = write
        } else {
            places[key] = writes.count
            writes.append(write)
        }
        waiting.append(.writes(writes, places: places))
        return isKept
    }

    /// Whatever it removes is not seen from now on.
    mutating func sweep(_ scope: Scope) -> UInt64 {
        takeUpFailed()
        switch scope {
        case .nothing: break
        case .all, .everything: forgetWrites()
        case .tag, .prefix:
            // A value of before may be in the tier and not be covered, so the key is removed by itself.
            for write in visible.values where isCovered(write, by: scope) { _ = enqueue(write.key, write.name, .remove) }
        }
        lastNumber += 1
        if case .nothing = scope {} else { pending[lastNumber] = scope }
        waiting.append(.sweep(Sweep(number: lastNumber, scope: scope)))
        return lastNumber
    }

    /// All that wait are in vain.
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

    func sight(_ key: Key, _ name: [UInt8]) -> Sight {
        if let write = visible[key] {
            if case .put(let item) = write.change { return .value(item) }
            return .absent
        }
        if doubted[key] != nil { return .absent }
        var tags: Set<String> = []
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

    /// The value that waits to be written.
    func value(_ key: Key) -> TieredValue<Value>? {
        if case .put(let item)? = visible[key]?.change { item } else { nil }
    }

    func isWriting(_ key: Key) -> Bool { visible[key] != nil }

    /// Whether somebody is to begin taking steps.
    mutating func begin() -> Bool {
        guard !isDraining, !waiting.isEmpty else { return false }
        isDraining = true
        return true
    }

    /// What is to be done next; nil when nothing is, and then somebody has to begin again.
    mutating func next() -> Step? {
        guard !waiting.isEmpty else {
            isDraining = false
            return nil
        }
        switch waiting.removeFirst() {
        case .sweep(let sweep): return .sweep(sweep)
        case .writes(let writes, _):
            waitingPuts -= writes.count { $0.change.isPut }
            return .writes(writes)
        }
    }

    /// - Parameter isClean: whether the tier holds nothing but the value, or nothing.
    mutating func finish(_ write: Write, isClean: Bool) {
        if isClean { doubted[write.key] = nil } else { doubted[write.key] = write.name }
        if visible[write.key]?.number == write.number, let old = visible.removeValue(forKey: write.key) { dropped.append(old) }
        guard doubted.count > Self.mostDoubted else { return }
        doubted = [:]
        _ = sweep(.all)
    }

    mutating func finish(_ sweep: Sweep, isDone: Bool) {
        guard isDone else {
            if pending[sweep.number] != nil { failed.append(sweep) }
            if failed.count > Self.mostFailed { mergeFailed() }
            return
        }
        pending[sweep.number] = nil
        switch sweep.scope {
        case .nothing, .tag, .prefix: break
        case .all: forgetFailed { if case .everything = $0 { false } else { true } }
        case .everything: forgetFailed { _ in true }
        }
    }

    /// The tier holds nothing of before any more, so what failed to remove some of it needs no second try.
    private mutating func forgetFailed(_ isInVain: (Scope) -> Bool) {
        doubted = [:]
        for sweep in failed where isInVain(sweep.scope) { pending[sweep.number] = nil }
        failed.removeAll { isInVain($0.scope) }
    }

    /// One that removes everything does for all that failed.
    private mutating func mergeFailed() {
        var schema: String?
        var isEverything = false
        for sweep in failed {
            pending[sweep.number] = nil
            guard case .everything(let new) = sweep.scope else { continue }
            isEverything = true
            schema = new ?? schema
        }
        lastNumber += 1
        let scope = isEverything ? Scope.everything(schema: schema) : .all
        failed = [Sweep(number: lastNumber, scope: scope)]
        pending[lastNumber] = scope
    }
}
