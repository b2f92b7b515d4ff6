/// The words that begin a statement or say what a device does, and which of them someone may have meant.
enum Vocabulary {
    /// What a line can begin with.
    static let openings = [
        "seed", "server", "device", "wait", "partition", "unplug", "slow", "heal", "crash", "start", "sleep", "wake", "reconnect", "clear",
        "join", "intercept", "cut", "drop", "duplicate", "delay", "garble", "clock", "disk", "refuse", "expire", "back", "restore",
        "promote",
        "compact", "settle", "expect", "postpone", "copy", "replace", "servers", "announcements", "grant", "revoke",
    ]
    /// What a device does.
    static let verbs = [
        "puts", "writes", "merges", "deletes", "increments", "reads", "fetches", "lists", "evicts", "retries", "discards", "moves",
        "switches",
    ]
    /// What the server does.
    static let serverVerbs = ["puts", "writes", "merges", "deletes", "increments", "invalidates"]

    /// Names that no device can have, since they mean something else.
    static let reserved = Set(openings + verbs + ["everything", "of", "to", "from", "connections", "token", "next", "the"])

    /// The nearest candidate, if it is near at all.
    static func nearest(to word: String, in candidates: [String]) -> String? {
        guard word.utf8.count <= 32 else { return nil }
        let word = word.lowercased()
        let ranked = candidates.map { (candidate: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.candidate.utf8.count / 3) ? best.candidate : nil
    }

    /// How many letters must be changed, added, left out or swapped with their neighbour.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for row in 0..<left.count {
            var next = [row + 1]
            for column in 0..<right.count {
                var cost = min(rows[row][column + 1] + 1, next[column] + 1, rows[row][column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, rows[row - 1][column - 1] + 1)
                }
                next.append(cost)
            }
            rows.append(next)
        }
        return rows[left.count][right.count]
    }
}
