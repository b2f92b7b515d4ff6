internal import FreshetWire

/// Chooses the entries to evict from the disk: the oldest first.
///
/// Entries that were used since the last check are retained once, and so are entries in memory, which were used lately;
/// if that does not free enough, entries in memory are chosen too. Entries that are needed are never chosen. When no
/// other entries are left, the round ends without success.
struct EvictionRound {
    struct Choice {
        var victims: [EvictionCandidate] = []
        /// The rows that become the newest.
        var retained: [Int64] = []
    }

    /// How often all entries have been checked.
    private var laps = 0
    /// The last row of this lap: later rows were retained in it, or were added in the meantime.
    private var end: Int64

    /// - Parameter newest: the last row.
    init(newest: Int64) { end = newest }

    /// Whether further calls would choose nothing.
    var isExhausted: Bool { laps > 1 }

    /// Chooses among the candidates until enough is freed. After an empty choice the next call may choose more, unless
    /// the round is exhausted.
    mutating func choose(
        from candidates: [EvictionCandidate], newest: Int64, toFree bytes: Int, isNeeded: (RecordKey) -> Bool,
        isInMemory: (RecordKey) -> Bool
    ) -> Choice {
        var choice = Choice()
        var left = bytes
        guard let first = candidates.first, first.row <= end else {
            laps += 1
            end = newest
            return choice
        }
        for candidate in candidates {
            guard left > 0, candidate.row <= end else { break }
            if !candidate.wasUsed, candidate.isEvictable, laps > 0 || !isInMemory(candidate.key), !isNeeded(candidate.key) {
                choice.victims.append(candidate)
                left -= candidate.bytes
            } else {
                choice.retained.append(candidate.row)
            }
        }
        return choice
    }
}
