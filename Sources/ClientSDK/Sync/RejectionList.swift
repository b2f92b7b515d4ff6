import FreshetWire

/// The rejected writes on disk, oldest first, without their contents.
///
/// Each is removed when the user has retried or discarded it. The list is bounded: the oldest are dropped for the
/// newest, and counted.
struct RejectionList: Hashable, Sendable {
    private var entries: [RejectionEntry]
    private var bytes: Int

    init(_ entries: [RejectionEntry] = []) {
        self.entries = entries
        bytes = entries.reduce(0) { $0 + $1.size }
    }

    var count: Int { entries.count }

    /// O(count).
    func contains(_ writeID: LocalWriteID) -> Bool { entries.contains { $0.writeID == writeID } }

    /// O(count).
    mutating func apply(_ operation: RejectionOperation) {
        switch operation {
        case .put(let write):
            entries.append(RejectionEntry(writeID: write.writeID, size: write.size))
            bytes += write.size
        case .remove(let writeID):
            guard let index = entries.firstIndex(where: { $0.writeID == writeID }) else { return }
            bytes -= entries.remove(at: index).size
        }
    }

    /// Returns the oldest write if there are more, or larger ones, than may be kept. A single write is kept whatever
    /// its size.
    func surplus(_ settings: SyncSettings) -> LocalWriteID? {
        guard entries.count > 1, entries.count > settings.rejectionCount || bytes > settings.rejectionBytes else { return nil }
        return entries.first?.writeID
    }
}
