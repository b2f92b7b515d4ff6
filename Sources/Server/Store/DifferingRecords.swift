package import FreshetWire

/// The bounds of one answer with many records, in bytes of values.
package struct ReadBounds: Hashable, Sendable {
    /// The most bytes of all values together.
    package var bytes: Int
    /// The most bytes of one value; a record with a longer value comes without it.
    package var valueBytes: Int
    /// Whether every record comes, those beyond ``bytes`` without their values. Otherwise the answer ends before the first of these, but never
    /// before its first record.
    package var coversAll: Bool

    /// - Parameter coversAll: whether records beyond the bounds come without values, rather than not at all.
    package init(bytes: Int, valueBytes: Int = .max, coversAll: Bool = false) {
        self.bytes = bytes
        self.valueBytes = valueBytes
        self.coversAll = coversAll
    }

    /// One answer to a request for many records: 4 MiB, as a page of a list.
    package static let page = ReadBounds(bytes: 4 << 20)

    /// The most bytes of a value that is read on an event loop. Reading a larger one would hold up all connections of the loop.
    package static let lookupValueBytes = 64 << 10
}

/// The records that differ from those that the client has.
package struct DifferingRecords: Hashable, Sendable {
    package var records: [Record]
    package var missing: [RecordKey]
    /// The place among the items of the first that is not answered; `nil` if all are.
    package var next: Int?

    package init(records: [Record], missing: [RecordKey], next: Int? = nil) {
        self.records = records
        self.missing = missing
        self.next = next
    }
}

/// Collects the answer to a request for many records, for every store.
package struct ReadsScan {
    private let bounds: ReadBounds
    private var bytes = 0
    package private(set) var result = DifferingRecords(records: [], missing: [])

    package init(_ bounds: ReadBounds) { self.bounds = bounds }

    /// The most bytes that the next value may have.
    private var room: Int {
        result.records.isEmpty && !bounds.coversAll ? bounds.valueBytes : min(bounds.valueBytes, bounds.bytes - bytes)
    }

    /// Looks for each key once, in order, until the answer is full.
    ///
    /// - Parameter find: returns the record of an item, if there is one; without its value if that has more bytes than
    ///   the second argument, or if the client has the record.
    package mutating func walk(_ items: [ReadsRequest.Item], _ find: (ReadsRequest.Item, Int) throws -> Record?) rethrows {
        var seen = Set<RecordKey>(minimumCapacity: items.count)
        for (place, item) in items.enumerated() where seen.insert(item.key).inserted {
            guard let record = try find(item, room) else {
                result.missing.append(item.key)
                continue
            }
            if record.revision == item.revision { continue }
            if record.content == nil, record.size <= bounds.valueBytes, !bounds.coversAll {
                result.next = place
                return
            }
            if record.content != nil { bytes += record.size }
            result.records.append(record)
        }
    }
}

extension Record {
    /// The record without its value.
    package var outline: Record { Record(key: key, revision: revision, contentType: contentType, size: size, modified: modified) }
}
