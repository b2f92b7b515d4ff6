import FreshetWire

/// Hands conflicts to the user's closures: the rejected write goes on as a new one over the record that it met.
struct Merger: Hashable, Sendable {
    /// Conflicts that a closure has, with the record that it was shown.
    private var open: [Receipt: Entry] = [:]
    /// Keys that were read since one of their writes was rejected.
    private var wasRead: Set<RecordKey> = []
    private var retry = Retry()

    /// When closures are called again, where that is a matter of time.
    func deadline(_ outbox: Outbox) -> Int64? { outbox.isMerging ? retry.notBefore : nil }

    /// The record that the closure was shown; `nil` where none has the conflict.
    func theirs(_ receipt: Receipt) -> Entry? { open[receipt] }

    /// Calls closures. Returns the keys that must be read first, since the rejection did not tell what is there now.
    mutating func advance(_ state: SyncState, _ outbox: Outbox, generation: Int64, _ turn: inout Turn) -> [RecordKey] {
        guard outbox.isMerging, retry.isDue(turn) else {
            if !outbox.isMerging { wasRead = [] }
            return []
        }
        var unread: [RecordKey] = []
        for key in outbox.mergingKeys {
            guard let pending = outbox.keys[key] else { continue }
            for row in pending.rows where row.isMerging && open[row.receipt] == nil {
                guard case .merge(let name) = row.policy else { continue }
                guard let base = pending.base, wasRead.contains(key) || Self.hasMoved(base, since: row, state) else {
                    unread.append(key)
                    continue
                }
                open[row.receipt] = base
                var mine = Overlay(row.ancestor)
                try? mine.apply(row.operation)
                turn.emit(
                    .merge(
                        MergeRequest(
                            receipt: row.receipt, key: key, name: name, base: row.ancestor, mine: mine.value.content,
                            theirs: base.content, generation: generation)))
            }
        }
        wasRead.formIntersection(outbox.mergingKeys)
        return unread
    }

    /// Whether the record is a later one than the write wanted to find. An earlier one does not say what the write met.
    private static func hasMoved(_ base: Entry, since row: OutboxRow, _ state: SyncState) -> Bool {
        guard base.epoch == state.epoch, base.pass == state.pass else { return false }
        guard case .revision(let revision) = row.precondition, revision != .maximum else { return false }
        return base.revision > revision && (base.content != nil || revision != .zero)
    }

    mutating func noteRead(_ key: RecordKey, _ outbox: Outbox) { if outbox.mergingKeys.contains(key) { wasRead.insert(key) } }

    /// The write has its verdict.
    mutating func decided(_ receipt: Receipt) { open[receipt] = nil }

    mutating func stored() { retry.succeed() }

    /// The disk did not take what a closure made: all closures are asked again.
    mutating func notStored(_ turn: inout Turn) {
        open = [:]
        retry.fail(&turn)
    }

    mutating func wake() { retry.wake() }

    /// The records that closures were shown are of another history, or of another account.
    mutating func forget() {
        open = [:]
        wasRead = []
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { retry.makeRelative(to: uptime) }
}
