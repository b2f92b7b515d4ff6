/// The time by which a transaction should take no further work, since all writers wait for it.
package struct TransactionDeadline: Sendable {
    /// A transaction without one, as in a simulation.
    package static let none = TransactionDeadline(at: .max) { 0 }

    private let end: Int64
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - end: by the clock `now`.
    ///   - now: a clock that never goes back.
    package init(at end: Int64, now: @escaping @Sendable () -> Int64) {
        self.end = end
        self.now = now
    }

    var hasPassed: Bool { now() >= end }
}
