/// The use of a limit, without the memory that the kernel can reclaim by dropping pages of files.
///
/// A control group's usage counts such pages too, so that reading large files alone brings it to its limit without any
/// pressure.
struct MemoryUsage: Hashable, Sendable {
    /// In bytes.
    var used: UInt64
    /// In bytes.
    var limit: UInt64

    init(used: UInt64, limit: UInt64) { (self.used, self.limit) = (used, limit) }

    /// The usage of a control group of version 2, from the texts of its files.
    ///
    /// - Returns: nil if it has no limit, or a text is malformed.
    init?(current: String, high: String, max: String, statistics: String) {
        let limits = [high, max].compactMap(Self.number)
        self.init(current, limits.min(), statistics, reclaimable: ["inactive_file", "active_file", "slab_reclaimable"])
    }

    /// The usage of a control group of version 1.
    init?(usage: String, limit: String, statistics: String) {
        // An absent limit is written as the largest number of whole pages.
        let limit = Self.number(limit).flatMap { $0 >= 1 << 60 ? nil : $0 }
        self.init(usage, limit, statistics, reclaimable: ["total_inactive_file", "total_active_file"])
    }

    /// The usage of the machine, from `/proc/meminfo`.
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

    /// In whole percent; 100 for a limit of zero.
    var percent: Int { limit == 0 ? 100 : Int(min(Double(used) / Double(limit), 10) * 100) }

    /// The sign of this usage: from 97 % on the next allocation may fail, from 90 % on caches have to shrink, from 80 %
    /// on they must not grow.
    var level: PressureLevel {
        switch percent {
        case 97...: .critical
        case 90...: .warning
        case 80...: .tense
        default: .calm
        }
    }

    /// Also `nil` for `max`, which is no limit.
    private static func number(_ text: String) -> UInt64? { UInt64(text.split(separator: "\n").first ?? "") }
}

/// The number of times that tasks of a control group ran out of memory, from its `memory.events`.
struct MemoryKills: Hashable, Sendable {
    var count: UInt64

    /// - Returns: nil if the text is malformed.
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
