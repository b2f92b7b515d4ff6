import FreshetWire

/// Hands conflicts to the user's closures. The rejected write continues as a new one over the record that it met. It
/// waits while its closure is not registered.
struct Merger: Hashable, Sendable {
    /// The conflicts that were given to a closure, each with the record that the closure got.
    private var open: [LocalWriteID: Entry] = [:]
    /// Keys that were read after one of their writes was rejected.
    private var wasRead: Set<RecordKey> = []
    /// The closures that can be called.
    private var registered: Set<MergeName> = []
    /// The closures whose absence has been logged.
    private var announced: Set<MergeName> = []
    private var retry = Retry()

    init() {}

    private init(registered: Set<MergeName>) { self.registered = registered }

    /// When to call closures again, where only the clock decides.
    func deadline(_ outbox: Outbox) -> Int64? { outbox.isMerging ? retry.notBefore : nil }

    /// Returns the record that the closure got; `nil` where no closure has the conflict.
    func theirs(_ writeID: LocalWriteID) -> Entry? { open[writeID] }

    /// Returns how many writes wait for closures that are not registered, by their names. O(writes of the keys with
    /// conflicts).
    func missing(_ outbox: Outbox) -> [MergeName: Int] {
        guard outbox.isMerging else { return [:] }
        var counts: [MergeName: Int] = [:]
        for key in outbox.mergingKeys {
            // Writes that are held behind such a write wait for the same closure.
            var missing: MergeName?
            for row in outbox.keys[key]?.rows ?? OutboxRows() {
                if row.isMerging, case .merge(let name) = row.policy, !registered.contains(name) { missing = name }
                if row.isMerging || row.isHeld, let missing { counts[missing, default: 0] += 1 }
            }
        }
        return counts
    }

    /// Registers a closure that can be called from now on.
    mutating func register(_ name: MergeName, _ outbox: Outbox, _ turn: inout Turn) {
        let count = missing(outbox)[name] ?? 0
        registered.insert(name)
        announced.remove(name)
        if count > 0 { turn.log(.info, "the merge closure '\(name.text)' is registered: \(count) writes that waited for it go on") }
    }

    private mutating func announce(_ outbox: Outbox, _ turn: inout Turn) {
        for (name, count) in missing(outbox).sorted(by: { $0.key.text < $1.key.text }) where announced.insert(name).inserted {
            let advice = "they are kept until it is given to client.collection(_:of:merging:)"
            turn.log(.warning, "\(Self.writes(count)) for the merge closure '\(name.text)', which is not registered: \(advice)")
        }
    }

    private static func writes(_ count: Int) -> String { count == 1 ? "1 write waits" : "\(count) writes wait" }

    /// Calls closures. Returns the keys that must be read first, since the rejection did not include the present record.
    mutating func advance(_ state: SyncState, _ outbox: Outbox, generation: Int64, _ turn: inout Turn) -> [RecordKey] {
        guard outbox.isMerging, retry.isDue(turn) else {
            if !outbox.isMerging { wasRead = [] }
            return []
        }
        announce(outbox, &turn)
        var unread: [RecordKey] = []
        for key in outbox.mergingKeys {
            guard let pending = outbox.keys[key] else { continue }
            for row in pending.rows where row.isMerging && open[row.writeID] == nil {
                guard case .merge(let name) = row.policy, registered.contains(name) else { continue }
                guard let base = pending.base, !base.lacksValue, wasRead.contains(key) || Self.hasMoved(base, since: row, state) else {
                    unread.append(key)
                    continue
                }
                open[row.writeID] = base
                var mine = Overlay(row.ancestor)
                try? mine.apply(row.original ?? row.operation)
                turn.emit(
                    .merge(
                        MergeRequest(
                            writeID: row.writeID, key: key, name: name, base: row.ancestor, mine: mine.value.content,
                            theirs: base.content, generation: generation)))
            }
        }
        wasRead.formIntersection(outbox.mergingKeys)
        return unread
    }

    /// Whether the record is later than the one that the write expected. An earlier record does not show what the write met.
    private static func hasMoved(_ base: Entry, since row: OutboxRow, _ state: SyncState) -> Bool {
        guard base.epoch == state.epoch, base.isConfirmed(in: state.pass) else { return false }
        guard case .revision(let revision) = row.precondition, revision != .maximum else { return false }
        return base.revision > revision && (base.content != nil || revision != .zero)
    }

    mutating func noteRead(_ key: RecordKey, _ outbox: Outbox) { if outbox.mergingKeys.contains(key) { wasRead.insert(key) } }

    /// Removes the conflict of a write that has its verdict.
    mutating func decided(_ writeID: LocalWriteID) { open[writeID] = nil }

    mutating func stored() { retry.succeed() }

    /// Calls all closures again, since the disk did not store a closure's result.
    mutating func notStored(_ turn: inout Turn) {
        open = [:]
        retry.fail(&turn)
    }

    mutating func wake() { retry.wake() }

    /// Forgets the records that closures got, since they are of another history.
    mutating func forget() {
        open = [:]
        wasRead = []
    }

    /// Clears everything but the registered closures, for another account in the same process.
    mutating func clear() { self = Merger(registered: registered) }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { retry.makeRelative(to: uptime) }
}
