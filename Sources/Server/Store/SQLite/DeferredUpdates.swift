internal import FreshetWire

/// The updates of records that a transaction has yet to write to the file. Of several updates of one record by a group
/// of writes, only the last is kept.
struct DeferredUpdates {
    /// The new content of a record's row.
    struct Update {
        let row: Int64
        var revision: Revision
        var metadata: WriteMetadata
        /// `nil` for a tombstone.
        var content: Content?
        /// Whether a record is to become a tombstone, or a tombstone a record.
        var togglesTombstone: Bool
    }

    /// In the order in which the records were first changed.
    private(set) var updates: [Update] = []
    private var places: [Int64: Int] = [:]

    var isEmpty: Bool { updates.isEmpty }

    /// Replaces the record or tombstone that holds a key by this content, or by a tombstone.
    mutating func put(_ content: Content?, over existing: ExistingRow, _ revision: Revision, _ metadata: WriteMetadata) {
        let togglesTombstone = (content == nil) != (existing.size == nil)
        put(Update(row: existing.row, revision: revision, metadata: metadata, content: content, togglesTombstone: togglesTombstone))
    }

    /// Adds an update, in place of an earlier one of the same row. O(1).
    mutating func put(_ update: Update) {
        let next = updates.count
        let place = places[update.row, default: next]
        if place < next {
            let changedLife = updates[place].togglesTombstone
            updates[place] = update
            if changedLife { updates[place].togglesTombstone = true }
        } else {
            places[update.row] = next
            updates.append(update)
        }
    }

    /// The update of a row; `nil` if there is none.
    func update(of row: Int64) -> Update? { places[row].map { updates[$0] } }

    mutating func removeAll() {
        let keepsCapacity = updates.count <= 4_096
        updates.removeAll(keepingCapacity: keepsCapacity)
        places.removeAll(keepingCapacity: keepsCapacity)
    }
}
