import Synchronization

/// The bytes of large bodies that handlers have received and not released yet.
final class HandledBytes: Sendable {
    /// A body's part of them, for as long as any copy of its request is kept.
    final class Share: Sendable {
        private let total: HandledBytes
        private let count: Int

        init(_ count: Int, of total: HandledBytes) {
            self.total = total
            self.count = count
            total.sum.add(count, ordering: .relaxed)
        }

        deinit { total.sum.subtract(count, ordering: .relaxed) }
    }

    private let sum = Atomic<Int>(0)

    var count: Int { sum.load(ordering: .relaxed) }
}
