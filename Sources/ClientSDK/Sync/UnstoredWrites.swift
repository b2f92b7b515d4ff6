import FreshetWire

/// Writes of the user that are not on disk yet, and the records over which they were made.
struct UnstoredWrites: Hashable, Sendable {
    /// The record of a key for writes that are not on disk yet.
    private struct WriteBase: Hashable, Sendable {
        var base: Entry?
        var count: Int
    }

    private var queue: [SetRequest] = []
    private var writeBases: [RecordKey: WriteBase] = [:]

    var isEmpty: Bool { queue.isEmpty }

    /// Whether writes to the key are being stored.
    func contains(_ key: RecordKey) -> Bool { writeBases[key] != nil }

    var keyCount: Int { writeBases.count }

    /// The record over which the key's writes are made.
    func base(of key: RecordKey) -> Entry? { writeBases[key]?.base }

    /// - Parameter base: the key's record in the outbox, if the outbox has the key.
    mutating func add(_ request: SetRequest, base: Entry?) {
        writeBases[request.key, default: WriteBase(base: base, count: 0)].count += 1
        queue.append(request)
    }

    /// Removes and returns all waiting writes, for one transaction.
    mutating func takeAll() -> [SetRequest] {
        defer { queue = [] }
        return queue
    }

    /// Releases the record of a write that is on disk, or will not be stored.
    mutating func release(_ request: SetRequest) {
        guard var writeBase = writeBases[request.key] else { return }
        writeBase.count -= 1
        writeBases[request.key] = writeBase.count > 0 ? writeBase : nil
    }

    /// Applies stored operations to the records that it keeps.
    mutating func apply(_ operations: [EntryOperation]) {
        guard !writeBases.isEmpty else { return }
        for key in writeBases.keys {
            guard var writeBase = writeBases[key] else { continue }
            for operation in operations { writeBase.base = operation.applied(to: writeBase.base, of: key) }
            writeBases[key] = writeBase
        }
    }

    /// Removes the records that it keeps.
    mutating func forgetBases() { for key in writeBases.keys { writeBases[key]?.base = nil } }

    /// Removes everything. Returns the ids of the waiting callers, in order.
    mutating func removeAll() -> [CallerID] {
        defer { self = UnstoredWrites() }
        return queue.map(\.callerID)
    }
}
