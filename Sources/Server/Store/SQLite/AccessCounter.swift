internal import Synchronization

/// Counts the transactions that have changed access rows since the store was opened: this process alone changes them.
final class AccessCounter: Sendable {
    private let number = Atomic<Int64>(0)

    var version: AccessVersion { AccessVersion(number: number.load(ordering: .acquiring)) }

    /// Call it once the rows are stored.
    func raise() { number.add(1, ordering: .releasing) }
}
