import FreshetWire

/// A key with writes of this device that have not left the overlay.
struct PendingKey: Hashable, Sendable {
    let key: RecordKey
    /// The confirmed record, as the disk has it; `nil` where it is not known.
    private(set) var base: Entry?
    /// Which writes of this device ``base`` contains.
    private(set) var watermark: WriteWatermark?
    /// In the order of their numbers.
    var rows: [OutboxRow]

    init(key: RecordKey, base: Entry?, watermark: WriteWatermark? = nil, rows: [OutboxRow] = []) {
        self.key = key
        self.base = base
        self.watermark = watermark
        self.rows = rows
    }

    var isPending: Bool { rows.contains { $0.isPending } }

    /// The record with the writes that it does not contain. O(writes).
    var overlay: Overlay {
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

    /// Another history begins: revisions of the old one say nothing in it.
    mutating func leaveHistory() {
        for place in rows.indices {
            // An old revision could match by accident. One that never matches makes the server answer with the present record.
            if case .revision(let revision) = rows[place].precondition, revision != .zero { rows[place].precondition = .revision(.maximum) }
            if let revision = rows[place].baseRevision, revision != .zero { rows[place].baseRevision = .maximum }
        }
    }

    /// The server has lost some of the history without another one having begun: what it had decided of it is not known any more.
    mutating func forgetHistory() {
        watermark = nil
        rows.removeAll { $0.position != nil }
    }

    /// Removes the writes that leave the overlay, and returns their receipts.
    mutating func settle(in epoch: Epoch?) -> [Receipt] {
        let finished = rows.filter { $0.standing(at: watermark, isRecordKnown: base != nil, in: epoch) == .finished }.map(\.receipt)
        if !finished.isEmpty { rows.removeAll { finished.contains($0.receipt) } }
        return finished
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
        let kept = rows.isEmpty ? nil : watermark
        if kept != old?.watermark { operations.append(.watermark(key, kept)) }
        return operations
    }
}

extension EntryOperation {
    /// Whether what the operation says is what the device knows after it.
    fileprivate func describes(_ updated: Entry?) -> Bool {
        switch self {
        case .put(let entry, _): updated == entry
        case .confirm(let news): updated?.revision == news.revision && updated?.epoch == news.epoch
        case .evict: updated == nil
        case .endPass: false
        }
    }
}
