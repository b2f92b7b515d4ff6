package import FreshetWire

/// Kept outcomes that were read from a store.
package struct OutcomeRead {
    package private(set) var outcomes: [StoredOutcome]
    /// How many bytes were decoded for them; 0 in a store that keeps them decoded.
    package private(set) var bytes = 0

    package init(outcomes: [StoredOutcome] = []) { self.outcomes = outcomes }

    /// Decodes a row, and adds those of its outcomes that concern the numbers.
    ///
    /// - Parameter last: the number of the row's last outcome.
    package mutating func append(_ row: [UInt8], last: Int64, _ numbers: ClosedRange<Int64>) throws(WireError) {
        bytes += row.count
        outcomes += try StoredOutcome.decode(row, last: last).lazy.filter { numbers.overlaps($0.numbers) }
    }

    /// Adds those of the outcomes that concern the numbers.
    package mutating func append(_ kept: ArraySlice<StoredOutcome>, _ numbers: ClosedRange<Int64>) {
        outcomes += kept.lazy.filter { numbers.overlaps($0.numbers) }
    }
}
