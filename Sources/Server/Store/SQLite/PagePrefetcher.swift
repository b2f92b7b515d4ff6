internal import Dispatch
internal import FreshetSQLite
internal import FreshetWire
internal import Synchronization

/// Reads the pages that a group of writes is about to need into the system's memory, many at a time.
///
/// The writer looks up one record after the other. If the file is larger than memory, each lookup waits for the disk
/// two or three times, and the disk could answer many at once. No connection continues to read while the transaction
/// runs, so the log is moved into the file as usual.
final class PagePrefetcher: Sendable {
    private final class Worker: Sendable {
        let queue = DispatchQueue(label: "freshet.prefetch")
        /// Opened at its first use: most stores never need one.
        let reader = Mutex<SnapshotReader?>(nil)
    }

    private let path: String
    private let timer: LookupTimer
    private let workers = (0..<8).map { _ in Worker() }

    init(path: String, timer: LookupTimer) {
        self.path = path
        self.timer = timer
    }

    /// Fetches the pages for writes to these records, if lookups wait for the disk. Returns when the pages are there.
    ///
    /// - Parameter records: called only in that case.
    func prepare(_ records: () -> [RecordAddress]) {
        guard timer.isSlow else { return }
        let records = records()
        guard records.count > 1 else { return }
        let group = DispatchGroup()
        for (index, worker) in workers.prefix(records.count).enumerated() {
            worker.queue.async(group: group) {
                // The transaction will meet the same failure, and report it.
                try? self.lookUp(records, from: index, on: worker)
            }
        }
        group.wait()
    }

    /// Looks up one worker's part of the records.
    private func lookUp(_ records: [RecordAddress], from first: Int, on worker: Worker) throws {
        try worker.reader.withLock { place in
            // The pages belong in the system's memory, where the writer finds them, not in the reader's cache.
            if place == nil { place = try SnapshotReader(path: path, memory: 256) }
            try place?.withSnapshot(of: nil) { reader in
                for index in stride(from: first, to: records.count, by: workers.count) {
                    try timer.time { try Self.lookUp(records[index], reader) }
                }
            }
        }
    }

    /// Reads the pages that an update of the record will touch: its place by key, its row, and its place by revision.
    private static func lookUp(_ record: RecordAddress, _ reader: SnapshotReader) throws {
        guard let namespace = try reader.row(of: record.namespace).id else { return }
        try reader.connection.withStatement(
            """
            SELECT (SELECT count(*) FROM record AS same INDEXED BY record_by_revision
                    WHERE same.namespace = found.namespace AND same.revision = found.revision)
            FROM record AS found WHERE namespace = ? AND collection = ? AND id = ?
            """
        ) { statement in
            try statement.bind(1, namespace)
            try statement.bind(2, record.key.collection)
            try statement.bind(3, record.key.id)
            _ = try statement.step()
        }
    }
}
