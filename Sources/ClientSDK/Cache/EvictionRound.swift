internal import FreshetWire

/// An entry on disk that may have to go.
struct EvictionCandidate: Hashable, Sendable {
    /// Its place among those that came before and after it.
    var row: Int64
    var key: RecordKey
    /// What its going frees, roughly.
    var bytes: Int
    /// Whether it was read since it was last looked at.
    var wasUsed: Bool
    /// ``Entry/mayBeEvicted(_:)``.
    var mayBeEvicted: Bool
}

/// Chooses which entries leave the disk: the oldest first.
///
/// What was used since it was last looked at is spared once, and so is what memory holds, for it was used lately; if that does not do,
/// memory's goes as well. What is needed is never chosen; when nothing else was met, the round is over without success.
struct EvictionRound {
    struct Choice {
        var doomed: [EvictionCandidate] = []
        /// The rows that are to count as the newest.
        var spared: [Int64] = []
    }

    /// How often all that there was has been looked at.
    private var laps = 0
    /// The last row of this lap: those behind it were spared in it, or came meanwhile.
    private var end: Int64

    /// - Parameter newest: the last row that there is.
    init(newest: Int64) { end = newest }

    /// Whether there is no use in going on.
    var isHopeless: Bool { laps > 1 }

    /// What becomes of the candidates until enough is free. If that is nothing, the next call may do more, unless the round is hopeless.
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
            if !candidate.wasUsed, candidate.mayBeEvicted, laps > 0 || !isInMemory(candidate.key), !isNeeded(candidate.key) {
                choice.doomed.append(candidate)
                left -= candidate.bytes
            } else {
                choice.spared.append(candidate.row)
            }
        }
        return choice
    }
}
