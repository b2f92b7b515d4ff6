import FreshetWire

/// A key with writes of this device that have not left the overlay.
struct PendingKey: Sendable {
    let key: RecordKey
    /// The confirmed record on disk; `nil` where it is not known.
    private(set) var base: Entry? { didSet { replayed = nil } }
    /// Shows which writes of this device ``base`` contains, or contained before it was removed.
    private(set) var watermark: WriteWatermark? { didSet { replayed = nil } }
    var rows: OutboxRows { didSet { replayed = nil } }
    /// The overlay, if it has been computed since the last change.
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
            // A base of another kind is shown without the operation; the server decides the write.
            try? overlay.apply(row.operation)
        }
        return overlay
    }

    var view: KeyView { KeyView(key: key, value: overlay.value, isPending: isPending, entry: base) }

    /// Whether a response must state the watermark, because its record may contain a write that the present watermark
    /// does not cover, or because there is no record that the present watermark is of.
    ///
    /// - Parameters:
    ///   - epoch: the history that the response is of.
    ///   - lastSentNumber: writes up to this number may have been sent.
    func needsWatermark(in epoch: Epoch?, lastSentNumber: Int64) -> Bool {
        rows.contains { row in
            guard row.number <= lastSentNumber else { return false }
            guard base != nil, let watermark, watermark.epoch == epoch else { return true }
            return row.number > watermark.number
        }
    }

    /// Returns the watermark that an operation shows without a stated number; `nil` if it shows none. A record that is known at the
    /// position of a verdict contains that write, and those before it.
    func watermark(shownBy operation: EntryOperation) -> WriteWatermark? {
        guard let position = operation.knownAt else { return nil }
        let included = rows.lazy.filter { row in
            row.position.map { $0.epoch == position.epoch && $0.revision <= position.revision } ?? false
        }
        return included.map(\.number).max().map { WriteWatermark(epoch: position.epoch, number: $0) }
    }

    // MARK: Changes

    /// Computes the overlay and keeps it until the next change.
    mutating func replay() { replayed = overlay }

    /// Adds a write that has no outcome yet.
    ///
    /// - Parameter overlay: the present overlay with this write, so that earlier writes are not replayed for each new one.
    mutating func append(_ row: OutboxRow, showing overlay: Overlay) {
        rows.append(row)
        replayed = overlay
    }

    /// Applies an operation on the key's row, as the disk does.
    ///
    /// - Parameter stated: the watermark of the response that the operation is from; `nil` where the response stated none.
    mutating func apply(_ operation: EntryOperation, stated: WriteWatermark? = nil) {
        let updated = operation.applied(to: base, of: key)
        let isFirst = base == nil
        base = updated
        guard let stated, operation.describes(updated) else { return }
        // The watermark of a record that is gone says nothing about this one, which may be older.
        if isFirst, updated != nil { watermark = nil }
        raise(to: stated)
    }

    /// Notes that the record is of the state in which the server had decided these writes.
    mutating func raise(to stated: WriteWatermark) {
        // A missing watermark means that the base contains no write. For undecided writes past the number this one says the same.
        if watermark == nil, rows.allSatisfy({ $0.number > stated.number && $0.position == nil }) { return }
        if let watermark, watermark.epoch == stated.epoch, watermark.number >= stated.number { return }
        watermark = stated
    }

    /// Inserts a merge after all writes that have a number, and before the held ones, the first of which was made over it.
    mutating func insert(_ merge: OutboxRow) {
        let index = rows.firstIndex(where: \.isHeld) ?? rows.endIndex
        if index < rows.endIndex, rows[index].precondition != .none { rows[index].precondition = .after(merge.writeID) }
        rows.insert(merge, at: index)
    }

    /// Gives the held writes their numbers, from `number` on, once no write waits to be merged.
    mutating func release(_ number: inout Int64) {
        guard rows.counts.merging == 0, rows.counts.held > 0 else { return }
        for index in rows.indices where rows[index].isHeld {
            var row = rows[index]
            (row.state, row.number) = (.pending, number)
            rows[index] = row
            number += 1
        }
    }

    /// Sets the precondition of the writes that were made over the write with this id, which has its verdict.
    ///
    /// O(writes) where any write follows another. Usually that is the next one, but a change of name can put others
    /// between them.
    mutating func setPrecondition(_ precondition: OutboxRow.Precondition, ofThoseAfter writeID: LocalWriteID) {
        guard rows.counts.following > 0 else { return }
        for index in rows.indices where rows[index].precondition == .after(writeID) { rows[index].precondition = precondition }
    }

    /// Invalidates the revisions of the old history, since another one begins.
    mutating func leaveHistory() {
        for index in rows.indices {
            var row = rows[index]
            // An old revision could match by accident. One that never matches makes the server answer with the present record.
            if case .revision(let revision) = row.precondition, revision != .zero { row.precondition = .revision(.maximum) }
            if let revision = row.baseRevision, revision != .zero { row.baseRevision = .maximum }
            rows[index] = row
        }
    }

    /// Forgets the server's decisions, since it has lost some of the history without beginning another one.
    mutating func forgetHistory() {
        watermark = nil
        rows.removeAll { $0.position != nil }
    }

    /// Removes the record, and the writes that wait only for it. The watermark stays: an outcome that is under way may be older than
    /// the record was.
    mutating func forgetRecord() {
        base = nil
        rows.removeAll { $0.position != nil }
    }

    /// Gives the writes without an outcome the `numbers` that they have under the device's new name. Held writes get
    /// theirs later.
    mutating func rename(_ numbers: [LocalWriteID: Int64]) {
        for index in rows.indices {
            var row = rows[index]
            if let number = numbers[row.writeID] {
                (row.number, row.isDisplaced) = (number, false)
            } else if !row.isHeld {
                row.number = watermark.map { row.number <= $0.number } ?? false ? -1 : 0
            }
            rows[index] = row
        }
        rows.sort()
        watermark?.number = -1
    }

    /// Removes the writes that leave the overlay, and returns their ids.
    mutating func removeIncluded(in epoch: Epoch?) -> [LocalWriteID] {
        rows.removeAll { [base, watermark] in $0.standing(at: watermark, isRecordKnown: base != nil, in: epoch) == .finished }
    }

    /// Returns the operations that change the rows on disk from `old` to these. O(n log n) in the rows that differ.
    func operations(since old: PendingKey?) -> [OutboxOperation] {
        var operations: [OutboxOperation] = []
        let changes = rows.changes(since: old?.rows ?? OutboxRows())
        // A held write has a lower id than the merge before it.
        var before = changes.before.sorted { $0.writeID < $1.writeID }[...]
        for row in changes.after.sorted(by: { $0.writeID < $1.writeID }) {
            while let gone = before.first, gone.writeID < row.writeID {
                operations.append(.remove(gone.writeID))
                before.removeFirst()
            }
            if before.first?.writeID == row.writeID {
                if before.removeFirst() != row { operations.append(.put(row)) }
            } else {
                operations.append(.put(row))
            }
        }
        operations += before.map { .remove($0.writeID) }
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
    /// The position at which the operation describes its record; `nil` if it describes none.
    fileprivate var knownAt: Cursor? {
        switch self {
        case .put(let entry, _): Cursor(epoch: entry.epoch, revision: entry.asOf)
        case .confirm(let revalidation), .withoutValue(let revalidation, _):
            Cursor(epoch: revalidation.epoch, revision: revalidation.asOf)
        case .evict, .invalidate, .finishPass, .remove, .narrow, .inherit: nil
        }
    }

    /// Whether the device's entry after the operation is the one that the operation describes.
    fileprivate func describes(_ updated: Entry?) -> Bool {
        switch self {
        case .put(let entry, _):
            // An invalidation that is newer than the entry says nothing about the record.
            updated.map { $0.revision == entry.revision && $0.epoch == entry.epoch && $0.asOf == entry.asOf && $0.pass == entry.pass }
                ?? false
        case .confirm(let revalidation): updated?.revision == revalidation.revision && updated?.epoch == revalidation.epoch
        case .withoutValue(let revalidation, _):
            updated.map { $0.lacksValue && $0.revision == revalidation.revision && $0.epoch == revalidation.epoch } ?? false
        case .evict, .remove: updated == nil
        case .invalidate, .finishPass, .narrow, .inherit: false
        }
    }
}
