internal import FreshetSQLite
internal import Synchronization

/// A few connections that read, each used by one thread at a time.
final class ReaderPool: Sendable {
    private final class Slot: Sendable {
        let reader: Mutex<SnapshotReader>

        init(path: String) throws(SQLiteError) { reader = Mutex(try SnapshotReader(path: path)) }
    }

    private let places: [Slot]
    private let next = Atomic(0)
    /// Counts beginnings and ends of write transactions: odd while there is one. A snapshot from before an end is out
    /// of date.
    private let version = Atomic(0)
    /// Whether readers that begin wait at the gate.
    private let isClosed = Atomic(false)
    private let gate = Mutex<Void>(())

    init(path: String, count: Int) throws(SQLiteError) {
        var places: [Slot] = []
        for _ in 0..<count { places.append(try Slot(path: path)) }
        self.places = places
    }

    /// Lends a connection, with no transaction open.
    func withConnection<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) throws -> Result {
        try withReader { try $0.withConnection(body) }
    }

    /// Lends a reader of one snapshot, with everything that was written before this call.
    func withSnapshot<Result: Sendable>(_ body: @Sendable (SnapshotReader) throws -> Result) throws -> Result {
        let version = version.load(ordering: .acquiring)
        let isWriting = version & 1 == 1
        return try withReader { try $0.withSnapshot(of: isWriting ? nil : version, body) }
    }

    /// Runs a write. A kept snapshot would hold up the checkpoint after it, so none is kept meanwhile.
    func whileWriting<Result>(_ body: () throws -> Result) rethrows -> Result {
        version.add(1, ordering: .acquiringAndReleasing)
        defer { version.add(1, ordering: .acquiringAndReleasing) }
        // A reader in use gives its snapshot back with its next read; a failure recurs there, and is thrown.
        for place in places { place.reader.withLockIfAvailable { try? $0.giveBack() } }
        return try body()
    }

    /// Runs the closure while nobody reads and no snapshot is kept. Waits for those that read; those that want to read wait for it.
    func whileIdle(_ body: () -> Void) {
        gate.withLock { _ in
            isClosed.store(true, ordering: .sequentiallyConsistent)
            whileIdle(from: places.startIndex, body)
            isClosed.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// As deep as there are connections.
    private func whileIdle(from place: Int, _ body: () -> Void) {
        guard place < places.endIndex else { return body() }
        places[place].reader.withLock { reader in
            // A failure recurs with the reader's next read, and is thrown there.
            try? reader.giveBack()
            whileIdle(from: place + 1, body)
        }
    }

    /// Lends a reader that is free, or waits for one if none is.
    private func withReader<Result: Sendable>(_ body: (SnapshotReader) throws -> Result) throws -> Result {
        // One that passes this before the gate closes is waited for.
        if isClosed.load(ordering: .relaxed) { gate.withLock { _ in } }
        for place in places {
            if let result = try place.reader.withLockIfAvailable({ try body($0) }) { return result }
        }
        let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return try places[Int(UInt(bitPattern: turn) % UInt(places.count))].reader.withLock { try body($0) }
    }
}
