import FreshetClient
import FreshetWire

/// The writes on a device's disk at one moment. The same object means the same writes.
final class WaitingWrites: Sendable {
    /// The rows of each key's number, in the order in which they take effect.
    let rows: [Int: [OutboxRow]]

    /// O(n log n) in the number of the rows.
    init(_ store: VolatileStore, _ numbers: [RecordKey: Int]) {
        var rows: [Int: [OutboxRow]] = [:]
        for row in store.rows.values {
            if let number = numbers[row.key] { rows[number, default: []].append(row) }
        }
        for number in rows.keys { rows[number]?.sort { ($0.number, $0.writeID) < ($1.number, $1.writeID) } }
        self.rows = rows
    }
}
