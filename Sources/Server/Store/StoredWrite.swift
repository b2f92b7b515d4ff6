package import FreshetWire

/// The content of a record's column `write`: the number of the write, and above its 53 bits the record's place in its
/// atomic batch.
///
/// The feed finds the beginning of a batch by it, without a table of batches, which would have to be written with each
/// and forgotten in time. A place is better than a mark on all but the last: it holds whichever of the other records
/// have been overwritten since.
package struct StoredWrite: Hashable {
    package let number: Int64
    /// How many revisions the atomic batch took before this record's; 0 outside of one. At most 1,023, and a batch has at most 1,000 writes.
    package let place: Int64

    private static let numberBits: Int64 = 53
    private static let greatestPlace: Int64 = 1_023

    /// A write that takes `revision`.
    package init(_ number: Int64, at revision: Revision, firstOfBatch: Revision?) {
        self.number = number
        place = firstOfBatch.map { min(max(0, revision.number - $0.number), Self.greatestPlace) } ?? 0
    }

    package init(column: Int64) {
        number = column & (1 << Self.numberBits - 1)
        place = column >> Self.numberBits
    }

    package var column: Int64 { place << Self.numberBits | number }

    /// The first revision of the batch; the record's own outside of one.
    package func firstOfBatch(of revision: Revision) -> Revision? { Revision(revision.number - place) }
}
