import FreshetWire

/// A key with writes of this device that have not left the overlay.
struct PendingKey: Sendable {
    let key: RecordKey
    /// The confirmed record, as the disk has it; `nil` where it is not known.
    private(set) var base: Entry? { didSet { replayed = nil } }
    /// Which writes of this device ``base`` contains.
    private(set) var watermark: WriteWatermark? { didSet { replayed = nil } }
    var rows: OutboxRows { didSet { replayed = nil } }
    /// The overlay, where it has been computed since the last change.
    private var replayed: Overlay?

    init(key: RecordKey, base: Entry?, watermark: WriteWatermark? = nil, rows: [OutboxRow] = []) {
        self.key = key
        self.base = base
        self.watermark = watermark
        self.rows = OutboxRows(rows)
    }

    var isPending: Bool { rows.counts.pending > 0 }

    /// The record with the writes that it does not contain. O(writes), or O(1) after ``replay()`` and ``append(_:showing:)``.
    var overlay: Overlay {
        if let replayed { return replayed }
        var overlay = Overlay(base)
        for row in rows where row.standing(at: watermark, isRecordKnown: base != nil, in: nil) == .replayed {
            // A base that changed its kind is shown as it is; the server decides what becomes of the write.
            try? overlay.apply(row.operation)
        }
        return overlay
    }

    var view: KeyView { KeyView(key: key, value: overlay.value, isPending: isPending, entry: base) }

    /// Whether a response must state the watermark, since its record may contain a write of which that is not known.
    ///
    /// - Parameters:
    ///   - epoch: the history that the response is of.
    ///   - sentThrough: writes up to this number may have been sent.
    func needsWatermark(in epoch: Epoch?, sentThrough: Int64) -> Bool {
        rows.contains { row in
            guard row.number <= sentThrough else { return false }
            guard let watermark, watermark.epoch == epoch else { return true }
            return row.number > watermark.number
        }
    }

    // MARK: Changes

    /// Computes the overlay, so that it is there until the next change.
    mutating func replay() { replayed = overlay }

    /// Adds a write that has no verdict yet.
    ///
    /// - Parameter overlay: the present overlay with this write. So that many writes of a record are not replayed for each one.
    mutating func append(_ row: OutboxRow, showing overlay: Overlay) {
        rows.append(row)
        replayed = overlay
    }

    /// Applies what the disk applies to the key's row.
    ///
    /// - Parameter stated: the watermark of the response that the operation is from; `nil` where the response stated none.
    mutating func apply(_ operation: EntryOperation, stated: WriteWatermark? = nil) {
        let updated = operation.applied(to: base, of: key)
        base = updated
        if let stated, operation.describes(updated) { raise(to: stated) }
    }

    /// Notes that the record is as it was when the server had decided these writes.
    mutating func raise(to stated: WriteWatermark) {
        // Without a watermark no write is contained: for writes without a verdict that says as much.
        if watermark == nil, rows.allSatisfy({ $0.number > stated.number && $0.position == nil }) { return }
        if let watermark, watermark.epoch == stated.epoch, watermark.number >= stated.number { return }
        watermark = stated
    }

    /// Adds a merge: behind all that have a number, and before the writes that are held for it, the first of which was made over it.
    mutating func insert(_ merge: OutboxRow) {
        let place = rows.firstIndex(where: \.isHeld) ?? rows.endIndex
        if place < rows.endIndex, rows[place].precondition != .none { rows[place].precondition = .after(merge.receipt) }
        rows.insert(merge, at: place)
    }

    /// Gives the writes that are held their numbers, from `number` on, once none waits to be merged.
    mutating func release(_ number: inout Int64) {
        guard rows.counts.merging == 0, rows.counts.held > 0 else { return }
        for place in rows.indices where rows[place].isHeld {
            var row = rows[place]
            (row.state, row.number) = (.pending, number)
            rows[place] = row
            number += 1
        }
    }

    /// The write of this receipt has its verdict: what those that were made over it must find is known.
    ///
    /// O(writes) where any follows another. Mostly that is the next one, but a change of name can put others between them.
    mutating func setPrecondition(_ precondition: OutboxRow.Precondition, ofThoseAfter receipt: Receipt) {
        guard rows.counts.following > 0 else { return }
        for place in rows.indices where rows[place].precondition == .after(receipt) { rows[place].precondition = precondition }
    }

    /// Another history begins: revisions of the old one say nothing in it.
    mutating func leaveHistory() {
        for place in rows.indices {
            var row = rows[place]
            // An old revision could match by accident. One that never matches makes the server answer with the present record.
            if case .revision(let revision) = row.precondition, revision != .zero { row.precondition = .revision(.maximum) }
            if let revision = row.baseRevision, revision != .zero { row.baseRevision = .maximum }
            rows[place] = row
        }
    }

    /// The server has lost some of the history without another one having begun: what it had decided of it is not known any more.
    mutating func forgetHistory() {
        watermark = nil
        rows.removeAll { $0.position != nil }
    }

    /// The device has another name; `numbers` are those of the writes without a verdict. What is held gets its number later.
    mutating func rename(_ numbers: [Receipt: Int64]) {
        for place in rows.indices {
            var row = rows[place]
            if let number = numbers[row.receipt] {
                (row.number, row.isDisplaced) = (number, false)
            } else if !row.isHeld {
                row.number = watermark.map { row.number <= $0.number } ?? false ? -1 : 0
            }
            rows[place] = row
        }
        rows.sort()
        watermark?.number = -1
    }

    /// Removes the writes that leave the overlay, and returns their receipts.
    mutating func settle(in epoch: Epoch?) -> [Receipt] {
        rows.removeAll { [base, watermark] in $0.standing(at: watermark, isRecordKnown: base != nil, in: epoch) == .finished }
    }

    /// What the disk must do to come from `old` to this. O(n log n) in the rows that differ.
    func operations(since old: PendingKey?) -> [OutboxOperation] {
        var operations: [OutboxOperation] = []
        let changes = rows.changes(since: old?.rows ?? OutboxRows())
        // A write that was held has a lower receipt than the merge before it.
        var before = changes.before.sorted { $0.receipt < $1.receipt }[...]
        for row in changes.after.sorted(by: { $0.receipt < $1.receipt }) {
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
        let kept = rows.isEmpty ? nil : watermark
        if kept != old?.watermark { operations.append(.watermark(key, kept)) }
        return operations
    }
}

extension PendingKey: Hashable {
    // Whether the overlay has been computed makes no difference.

    static func == (left: Self, right: Self) -> Bool {
        left.key == right.key && left.base == right.base && left.watermark == right.watermark && left.rows == right.rows
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(base)
        hasher.combine(watermark)
        hasher.combine(rows)
    }
}

extension EntryOperation {
    /// Whether what the operation says is what the device knows after it.
    fileprivate func describes(_ updated: Entry?) -> Bool {
        switch self {
        case .put(let entry, _):
            // An invalidation that the entry does not know of says nothing of the record.
            updated.map { $0.revision == entry.revision && $0.epoch == entry.epoch && $0.asOf == entry.asOf && $0.pass == entry.pass }
                ?? false
        case .confirm(let news): updated?.revision == news.revision && updated?.epoch == news.epoch
        case .withoutValue(let news, _):
            updated.map { $0.lacksValue && $0.revision == news.revision && $0.epoch == news.epoch } ?? false
        case .evict: updated == nil
        case .invalidate, .endPass: false
        }
    }
}
