/// Counts the bytes that each connection of a loop keeps in memory, and chooses the connections that give way; needs no
/// sockets and clocks.
struct MemoryLedger {
    /// The direction of progress: the body of a request grows, a queued answer shrinks.
    enum Direction {
        case growing
        case shrinking
    }

    private struct Entry {
        var bytes: Int
        /// Bytes of progress since the last progress that counted.
        var moved = 0
        /// When the last progress that counted was made, in the ledger's sequence of changes.
        var order: UInt64
    }

    /// Connections that keep fewer bytes are not counted.
    static let smallest = 4 << 10
    /// Connections that keep more bytes give way before all others.
    static let large = 64 << 10
    /// Progress counts in steps, so that single bytes do not make a slow client look like an active one.
    private static let step = 16 << 10

    private let direction: Direction
    private var entries: [UInt64: Entry] = [:]
    /// Counts the changes.
    private var order: UInt64 = 0
    /// The bytes of all connections together.
    private(set) var bytes = 0

    init(_ direction: Direction) { self.direction = direction }

    /// Records the bytes that a connection now keeps.
    mutating func set(_ count: Int, of connection: UInt64) {
        guard count >= MemoryLedger.smallest else {
            if let entry = entries.removeValue(forKey: connection) { bytes -= entry.bytes }
            return
        }
        order &+= 1
        var entry = entries[connection] ?? Entry(bytes: 0, order: order)
        let growth = count - entry.bytes
        entry.moved += max(0, direction == .growing ? growth : -growth)
        if entry.moved >= MemoryLedger.step { (entry.moved, entry.order) = (0, order) }
        entry.bytes = count
        bytes += growth
        entries[connection] = entry
    }

    /// Returns the connections that give way so that `needed` bytes become free. Of the connections that keep more than
    /// `large` bytes, those that have gone longest without progress come first. The others give way only while all
    /// connections of this loop together keep more than `share`.
    ///
    /// Complexity: O(*n* log *n*), so callers free more than they need at the moment.
    func giveWay(freeing needed: Int, share: Int) -> [UInt64] {
        let slowest = entries.sorted { $0.value.order < $1.value.order }
        var connections: [UInt64] = []
        var freed = 0
        for (connection, entry) in slowest where entry.bytes > MemoryLedger.large {
            guard freed < needed else { return connections }
            connections.append(connection)
            freed += entry.bytes
        }
        for (connection, entry) in slowest where entry.bytes <= MemoryLedger.large {
            guard freed < needed, bytes - freed > share else { return connections }
            connections.append(connection)
            freed += entry.bytes
        }
        return connections
    }
}
