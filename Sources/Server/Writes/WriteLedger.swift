/// Decides how each numbered write of a device is treated, given the device's last decided number: the heart of exactly
/// once.
package struct WriteLedger: Hashable, Sendable {
    /// The number of outcomes that are kept for a device.
    package static let kept: Int64 = 1_000

    /// How a number is treated.
    package enum Decision: Hashable, Sendable {
        /// It is the next one: decide it now.
        case apply
        /// It was decided or left out, and its outcome is kept: answer with the outcome.
        case replay
        /// It was decided so long ago that its outcome is no longer kept.
        case settled
    }

    /// A number that skips others.
    package struct Gap: Error, Hashable, Sendable {
        /// The number that skips.
        package var number: Int64
        /// The number that comes next.
        package var expected: Int64

        package init(number: Int64, expected: Int64) {
            self.number = number
            self.expected = expected
        }
    }

    /// The number of the last decided write; 0 if there was none.
    package private(set) var last: Int64

    package init(last: Int64) { self.last = last }

    /// Numbers at or below this are settled: their outcomes need not be kept.
    package var settled: Int64 { max(0, last - Self.kept) }

    /// Accepts `number` as the next one although it leaves some out, which another history decided. No effect if it
    /// leaves none out.
    ///
    /// - Returns: the numbers that it leaves out, which have no outcome in this history.
    package mutating func resume(at number: Int64) -> ClosedRange<Int64>? {
        guard number - 1 > last else { return nil }
        let leftOut = last + 1...number - 1
        last = number - 1
        return leftOut
    }

    /// Reverts `number`, which was to be applied, and those after it: the device sends them again.
    mutating func leave(from number: Int64) { last = min(last, number - 1) }

    /// Decides the numbers of one request in order. A rejected write uses up its number like any other, so the decisions depend on
    /// numbers alone and are made before any write has its effect: a request with a gap has none.
    package mutating func decide(_ numbers: some Sequence<Int64>) throws(Gap) -> [Decision] {
        var ahead = last
        var decisions: [Decision] = []
        for number in numbers {
            if number - 1 == ahead {
                decisions.append(.apply)
                ahead = number
            } else if number <= ahead {
                // Compared with `settled` as it was before this request, since outcomes are forgotten only when the
                // request is done.
                decisions.append(number > settled ? .replay : .settled)
            } else {
                throw Gap(number: number, expected: ahead + 1)
            }
        }
        last = ahead
        return decisions
    }
}
