import Synchronization

/// A counter that any thread may raise and read.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    func add(_ amount: Int = 1) { number.add(amount, ordering: .relaxed) }

    var value: Int { number.load(ordering: .relaxed) }
}

/// Counts how often a measure was at or below each bound, as Prometheus does.
final class Histogram: Sendable {
    let bounds: [Double]
    private let counts: [Counter]
    private let sum = Counter()
    /// The value of one unit of ``sum``.
    private let resolution: Double

    /// - Parameters:
    ///   - bounds: in ascending order; infinity is added as the last.
    ///   - resolution: the precision of the sum.
    init(bounds: [Double], resolution: Double) {
        self.bounds = bounds
        self.resolution = resolution
        counts = (0...bounds.count).map { _ in Counter() }
    }

    func record(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count].add()
        sum.add(Int(value / resolution))
    }

    /// The cumulative counts, the last of them for infinity, and the sum of all values.
    var snapshot: (counts: [Int], sum: Double) {
        var total = 0
        let cumulative = counts.map { count in
            total += count.value
            return total
        }
        return (cumulative, Double(sum.value) * resolution)
    }
}
