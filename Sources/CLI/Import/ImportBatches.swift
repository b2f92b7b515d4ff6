import FreshetWire

/// Splits the records of an import into the batches that are sent.
struct ImportBatches {
    /// The most bytes of values in one batch; a larger record goes alone.
    static let batchBytes = 1 << 20
    /// The most writes in one batch.
    static let batchCount = WriteBatch.maximumCount

    /// Writes whose numbers follow each other, with the places of their records.
    struct Batch: Sendable {
        fileprivate(set) var writes: [Write] = []
        /// Where each write's record stands in the file.
        fileprivate(set) var places: [ImportPosition] = []
        /// The bytes of all values.
        fileprivate(set) var size = 0
    }

    private var source: any ImportSource
    /// The number of the record that was read last.
    private var number: Int64 = 0
    private let last: Int64
    /// A record that did not fit into the previous batch.
    private var held: ImportRecord?

    /// - Parameter last: the number of the last write that is decided; those up to it are left out.
    init(_ source: some ImportSource, after last: Int64) {
        self.source = source
        self.last = last
    }

    /// The next batch; `nil` after the last.
    mutating func next() throws(CommandFailure) -> Batch? {
        var batch = Batch()
        while let record = try nextRecord() {
            let bytes = record.content.bytes.count
            guard batch.writes.isEmpty || (batch.writes.count < Self.batchCount && batch.size + bytes <= Self.batchBytes) else {
                held = record
                break
            }
            batch.size += bytes
            batch.writes.append(Write(number: number, key: record.key, operation: .put(record.content)))
            batch.places.append(record.place)
        }
        return batch.writes.isEmpty ? nil : batch
    }

    private mutating func nextRecord() throws(CommandFailure) -> ImportRecord? {
        if let record = held {
            held = nil
            return record
        }
        repeat {
            guard let record = try source.next() else { return nil }
            number += 1
            if number > last { return record }
        } while true
    }
}
