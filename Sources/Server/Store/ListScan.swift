package import FreshetWire

/// Walks over the rows of a collection in the order of their ids and keeps the records, within the bounds of the query:
/// the same for every store.
package struct ListScan {
    private let query: ListQuery
    private var scanned = 0
    private var bytes = 0
    package private(set) var slice = RecordSlice(records: [], next: nil)

    package init(_ query: ListQuery) { self.query = query }

    /// Takes the next row.
    ///
    /// - Parameters:
    ///   - size: the bytes of the value; `nil` for a tombstone.
    ///   - id: called only if the walk ends with this row.
    ///   - record: called only if the record is kept.
    /// - Returns: false once a bound is reached. The slice then has the id from which to continue.
    package mutating func take(size: Int?, id: () -> String, record: () throws -> Record?) rethrows -> Bool {
        if let size {
            if let last = slice.records.last, slice.records.count >= query.limit || bytes + size > query.byteLimit {
                slice.next = last.key.id
                return false
            }
            bytes += size
            if let record = try record() { slice.records.append(record) }
        }
        scanned += 1
        guard scanned >= query.scanLimit else { return true }
        slice.next = id()
        return false
    }
}
