import FreshetWire

/// The rejected writes on disk, oldest first, without their contents.
///
/// Each is removed when the user has retried or discarded it. The list is bounded: the oldest are dropped for the
/// newest, and counted.
struct RejectionList: Hashable, Sendable {
    private var places: [RejectionPlace]
    private var bytes: Int

    init(_ places: [RejectionPlace] = []) {
        self.places = places
        bytes = places.reduce(0) { $0 + $1.size }
    }

    var count: Int { places.count }

    /// O(count).
    func contains(_ receipt: Receipt) -> Bool { places.contains { $0.receipt == receipt } }

    /// O(count).
    mutating func apply(_ operation: RejectionOperation) {
        switch operation {
        case .put(let write):
            places.append(RejectionPlace(receipt: write.receipt, size: write.size))
            bytes += write.size
        case .remove(let receipt):
            guard let index = places.firstIndex(where: { $0.receipt == receipt }) else { return }
            bytes -= places.remove(at: index).size
        }
    }

    /// Returns the oldest write if there are more, or larger ones, than may be kept. A single write is kept whatever
    /// its size.
    func surplus(_ settings: SyncSettings) -> Receipt? {
        guard places.count > 1, places.count > settings.rejectionCount || bytes > settings.rejectionBytes else { return nil }
        return places.first?.receipt
    }
}
