import FreshetWire

/// A key with writes of ours that are not part of the confirmed record yet.
struct PendingKey: Hashable, Sendable {
    let key: RecordKey
    /// The confirmed record, as the disk has it; `nil` where it is not known.
    private(set) var base: Entry?
    /// The older record that is shown instead, while nobody knows whether ``base`` holds an increment of ours already: replayed over it,
    /// the increment would count twice; left out, it would vanish for a moment.
    private(set) var frozen: Entry?
    /// In the order in which they were written.
    var rows: [OutboxRow]

    init(key: RecordKey, base: Entry?, frozen: Entry? = nil, rows: [OutboxRow] = []) {
        self.key = key
        self.base = base
        self.frozen = frozen
        self.rows = rows
    }

    /// Whether the record is known but may or may not hold an increment of ours, and there is no older one to show.
    var isHidden: Bool { rows.contains { $0.effect == .uncertain } }

    /// The record that is shown underneath.
    var shown: Entry? { isHidden ? nil : frozen ?? base }

    var isPending: Bool { rows.contains { $0.isPending } }

    var overlay: Overlay {
        var overlay = Overlay(shown)
        var isReplaced = false
        for row in rows {
            // Over a value of ours, what the record holds does not matter, so nothing is uncertain.
            guard row.effect == .replayed || (row.effect == .uncertain && isReplaced) else { continue }
            // A base that changed its kind is shown as it is; the server decides what becomes of the write.
            try? overlay.apply(row.operation)
            isReplaced = isReplaced || row.replacesAll
        }
        return overlay
    }

    var view: KeyView {
        KeyView(key: key, value: overlay.value, isPending: isPending, entry: shown, isOutdated: frozen != nil)
    }

    // MARK: Changes

    /// Applies what the disk applies to the key's row.
    mutating func apply(_ operation: EntryOperation, certainty: Certainty? = nil, _ horizon: Horizon) {
        let updated = operation.applied(to: base, of: key)
        defer { base = updated }
        if let base, let updated, base.epoch != updated.epoch { leaveRecord() }
        if let certainty {
            apply(certainty, updated)
            if certainty.isExact { return }
        }
        guard updated?.revision != base?.revision || updated?.epoch != base?.epoch else { return }
        guard updated != nil else { return forgetBase() }
        let uncertain = rows.indices.filter { horizon.isUncertain(rows[$0], of: key, base: base) }
        guard !uncertain.isEmpty else { return }
        if frozen == nil, base == nil || isHidden {
            for place in uncertain { rows[place].effect = .uncertain }
        } else {
            frozen = frozen ?? base
        }
    }

    /// What a record of the old history held, one of the new need not.
    private mutating func leaveRecord() {
        for place in rows.indices where rows[place].effect == .absorbed {
            if case .increment = rows[place].operation { rows[place].effect = .uncertain } else { rows[place].effect = .replayed }
        }
    }

    /// Nothing is known of the record any more, so writes that wait for their verdicts show for themselves.
    private mutating func forgetBase() {
        frozen = nil
        for place in rows.indices where rows[place].effect == .uncertain || rows[place].isPending && rows[place].replacesAll {
            rows[place].effect = .replayed
        }
    }

    private mutating func apply(_ certainty: Certainty, _ updated: Entry?) {
        guard let updated else { return forgetBase() }
        if certainty.isExact, updated.revision == certainty.revision {
            frozen = nil
            for place in rows.indices where rows[place].effect == .uncertain { rows[place].effect = .replayed }
        }
        // What is shown is older than the news: it does not hold them.
        guard frozen == nil else { return }
        for place in rows.indices where rows[place].number < certainty.number {
            switch rows[place].state {
            case .pending, .settled: rows[place].effect = .absorbed
            case .applied, .merging: break
            }
        }
    }

    /// Which writes of ours a revision of the record holds, where that is known: those with lower numbers than this.
    struct Certainty {
        var revision: Revision
        var number: Int64
        /// Whether it holds no others. A record that comes with a repeated verdict is that of now, and may hold later ones.
        var isExact: Bool
    }

    /// Another history begins: revisions of the old one say nothing, and of a record that is not known, nothing is known any more.
    mutating func leaveHistory() {
        for place in rows.indices {
            // One of before could hold by accident. One that never holds brings the record of now.
            if case .revision(let revision) = rows[place].precondition, revision != .zero { rows[place].precondition = .revision(.maximum) }
            if let revision = rows[place].baseRevision, revision != .zero { rows[place].baseRevision = .maximum }
        }
        guard base == nil else { return }
        for place in rows.indices where rows[place].effect == .absorbed { rows[place].effect = .replayed }
    }

    /// Lets go what the base holds now. Gives the receipts of the writes that left.
    mutating func settle(_ horizon: Horizon) -> [Receipt] {
        for place in rows.indices {
            guard rows[place].effect != .replayed, case .applied(let position) = rows[place].state else { continue }
            // Whether a record of another history holds it, its position does not tell.
            if let base, base.epoch != position.epoch { continue }
            if !horizon.covers(position, of: key, base: base) { rows[place].effect = .replayed }
        }
        if frozen != nil, !rows.contains(where: { horizon.isUncertain($0, of: key, base: base) }) { frozen = nil }
        // While a value of ours is shown that has no verdict yet, what was written over it stays with it.
        let free = rows.firstIndex { $0.isPending && $0.effect == .replayed && $0.replacesAll } ?? rows.count
        if let frozen {
            // What the record that is shown holds is replayed no longer, though it cannot leave yet.
            for place in 0..<free {
                if let position = rows[place].position, !frozen.isKnownOnly(before: position) { rows[place].effect = .absorbed }
            }
            return []
        }
        for place in rows.indices.dropFirst(free + 1) { rows[place].effect = .replayed }
        let left = rows[..<free].filter { row in row.position.map { horizon.covers($0, of: key, base: base) } ?? false }.map(\.receipt)
        rows.removeAll { left.contains($0.receipt) }
        return left
    }

    /// What the disk must do to come from `old` to this.
    func operations(since old: PendingKey?) -> [OutboxOperation] {
        var operations: [OutboxOperation] = []
        var before = (old?.rows ?? [])[...]
        // Both are in the order of their receipts.
        for row in rows {
            while let gone = before.first, gone.receipt < row.receipt {
                operations.append(.remove(gone.receipt))
                before.removeFirst()
            }
            if before.first?.receipt == row.receipt {
                if before.removeFirst() != row { operations.append(.put(row)) }
            } else {
                operations.append(.put(row))
            }
        }
        operations += before.map { .remove($0.receipt) }
        if frozen != old?.frozen { operations.append(frozen.map { .freeze($0) } ?? .thaw(key)) }
        return operations
    }
}

extension OutboxRow {
    /// Whether what was there before does not matter to it.
    fileprivate var replacesAll: Bool {
        switch operation {
        case .put, .delete: true
        case .patch, .increment: false
        }
    }
}

/// How far the device knows the server's state, for the question whether a write's effect is part of what it has.
struct Horizon: Sendable {
    var epoch: Epoch?
    var pass: Int64
    /// The position at which the feed last had nothing more, unless entries are being verified: then it vouches for nothing yet.
    ///
    /// A position in between is not enough: a key that changed at 5 and at 9 is told of at 9 only, so the page that ends at 7 is silent on it.
    var complete: Cursor?
    var filter: ChangeFilter
    /// Writes up to this number may have been sent.
    var sentThrough: Int64

    init(_ state: SyncState, complete: Cursor?, filter: ChangeFilter, sentThrough: Int64) {
        epoch = state.epoch
        pass = state.pass
        self.complete = state.verification == .complete ? complete : nil
        self.filter = filter
        self.sentThrough = sentThrough
    }

    /// Whether the feed brings the key's changes.
    func follows(_ key: RecordKey) -> Bool { filter.matches(key) }

    /// Whether what the device has of the key includes everything up to `position`.
    func covers(_ position: Cursor, of key: RecordKey, base: Entry?) -> Bool {
        guard position.epoch == epoch else {
            // Revisions of another history say nothing here; what counts is that the key was looked at in this one.
            return base?.epoch == epoch || (complete != nil && follows(key))
        }
        if let base, base.epoch == epoch, base.asOf >= position.revision { return true }
        if let complete, complete.epoch == epoch, complete.revision >= position.revision { return follows(key) }
        return false
    }

    /// Whether a new base may or may not hold the write, in a way that shows: an increment sent and not answered, or answered too vaguely.
    func isUncertain(_ row: OutboxRow, of key: RecordKey, base: Entry?) -> Bool {
        guard row.effect != .absorbed, case .increment = row.operation else { return false }
        switch row.state {
        case .pending: return row.number <= sentThrough
        case .settled(let position): return !covers(position, of: key, base: base)
        // Whether a record of another history holds it, its position does not tell.
        case .applied(let position):
            guard let base, base.epoch != position.epoch else { return false }
            return !covers(position, of: key, base: base)
        case .merging: return false
        }
    }
}
