internal import Dispatch
internal import FreshetWire
internal import SQLite
internal import Synchronization

/// Brings the pages that a group of writes is about to need into the system's memory, many at a time.
///
/// The one writer looks at one record after the other. Where the file is larger than memory each look waits for the disk two or three
/// times, which could answer many at once. No connection reads on while the transaction runs, so the log is moved into the file as ever.
final class PagePrefetcher: Sendable {
    private final class Lane: Sendable {
        let queue = DispatchQueue(label: "freshet.prefetch")
        /// Opened when it is first needed: most stores never need one.
        let reader = Mutex<SnapshotReader?>(nil)
    }

    private let path: String
    private let timer: LookTimer
    private let lanes = (0..<8).map { _ in Lane() }

    init(path: String, timer: LookTimer) {
        self.path = path
        self.timer = timer
    }

    /// Fetches what writes to these records need, if looks wait for the disk. Returns when it is there.
    ///
    /// - Parameter records: asked for only then.
    func prepare(_ records: () -> [RecordAddress]) {
        guard timer.isSlow else { return }
        let records = records()
        guard records.count > 1 else { return }
        let group = DispatchGroup()
        for (index, lane) in lanes.prefix(records.count).enumerated() {
            lane.queue.async(group: group) {
                // The transaction will meet the same failure, and tell those whom it concerns.
                try? self.look(records, from: index, on: lane)
            }
        }
        group.wait()
    }

    /// Looks at one lane's part of the records.
    private func look(_ records: [RecordAddress], from first: Int, on lane: Lane) throws {
        try lane.reader.withLock { place in
            // The pages shall be in the system's memory, where the writer finds them, not in the reader's own.
            if place == nil { place = try SnapshotReader(path: path, memory: 256) }
            try place?.withSnapshot(of: nil) { reader in
                for index in stride(from: first, to: records.count, by: lanes.count) {
                    try timer.time { try Self.look(records[index], reader) }
                }
            }
        }
    }

    /// Touches what an update of the record will: its place by key, its row, and its place by revision.
    private static func look(_ record: RecordAddress, _ reader: SnapshotReader) throws {
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
