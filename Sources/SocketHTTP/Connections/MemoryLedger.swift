/// How many bytes each connection of a loop keeps in memory, and which connections give way; decided without sockets and clocks.
struct MemoryLedger {
    /// What progress is: a request's body grows, an answer that waits to be sent shrinks.
    enum Direction {
        case growing
        case shrinking
    }

    private struct Entry {
        var bytes: Int
        /// Bytes of progress since then.
        var moved = 0
        /// When the last progress that counts was, among all of the ledger.
        var order: UInt64
    }

    /// Connections that keep fewer bytes are not counted.
    static let smallest = 4 << 10
    /// Connections that keep more bytes give way before all others.
    static let large = 64 << 10
    /// Progress counts in steps, so that single bytes do not make a slow client look like one that goes on.
    private static let step = 16 << 10

    private let direction: Direction
    private var entries: [UInt64: Entry] = [:]
    /// Counts the changes.
    private var order: UInt64 = 0
    /// The bytes of all.
    private(set) var bytes = 0

    init(_ direction: Direction) { self.direction = direction }

    /// Takes note of what a connection keeps now.
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

    /// The connections that give way so that `needed` bytes become free: of those that keep much, the ones that have gone longest without
    /// progress. Those that keep little give way only as far as all connections of this loop together keep more than `share`.
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
