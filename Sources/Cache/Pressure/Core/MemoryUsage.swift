/// How much of a limit is taken by what the kernel cannot take back by forgetting pages of files.
///
/// Those are counted too in a control group's usage, so that reading large files alone brings it to its limit, and is no pressure.
struct MemoryUsage: Hashable, Sendable {
    /// In bytes.
    var used: UInt64
    /// In bytes.
    var limit: UInt64

    init(used: UInt64, limit: UInt64) { (self.used, self.limit) = (used, limit) }

    /// Of a control group of version 2, by the texts of its files.
    ///
    /// - Returns: nil if it has no limit, or the texts are not theirs.
    init?(current: String, high: String, max: String, statistics: String) {
        let limits = [high, max].compactMap(Self.number)
        self.init(current, limits.min(), statistics, reclaimable: ["inactive_file", "active_file", "slab_reclaimable"])
    }

    /// Of a control group of version 1.
    init?(usage: String, limit: String, statistics: String) {
        // No limit is written as the largest number of whole pages.
        let limit = Self.number(limit).flatMap { $0 >= 1 << 60 ? nil : $0 }
        self.init(usage, limit, statistics, reclaimable: ["total_inactive_file", "total_active_file"])
    }

    /// Of the machine, by `/proc/meminfo`.
    init?(machine text: String) {
        var values: [Substring: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count >= 2 { values[words[0]] = UInt64(words[1]) }
        }
        guard let total = values["MemTotal:"], let available = values["MemAvailable:"], total > 0 else { return nil }
        self.init(used: (total - min(available, total)) << 10, limit: total << 10)
    }

    private init?(_ current: String, _ limit: UInt64?, _ statistics: String, reclaimable names: Set<Substring>) {
        guard let current = Self.number(current), let limit else { return nil }
        var reclaimable: UInt64 = 0
        for line in statistics.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, names.contains(words[0]), let bytes = UInt64(words[1]) { reclaimable &+= min(bytes, 1 << 60) }
        }
        self.init(used: current - min(reclaimable, current), limit: limit)
    }

    /// In whole percent; 100 of a limit of nothing.
    var percent: Int { limit == 0 ? 100 : Int(min(Double(used) / Double(limit), 10) * 100) }

    /// What that means: from 97 % on the next allocation may be the last, from 90 % on it is time to shrink, from 80 % on not to grow.
    var sign: PressureSign {
        switch percent {
        case 97...: .critical
        case 90...: .warning
        case 80...: .tense
        default: .calm
        }
    }

    /// `nil` for `max`, which is none, too.
    private static func number(_ text: String) -> UInt64? { UInt64(text.split(separator: "\n").first ?? "") }
}

/// How often tasks of a control group were killed for want of memory, by its `memory.events`.
struct MemoryKills: Hashable, Sendable {
    var count: UInt64

    /// - Returns: nil if the text is no such file's.
    init?(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, words[0] == "oom", let count = UInt64(words[1]) else { continue }
            self.count = count
            return
        }
        return nil
    }
}
