/// A limit of memory, and the files from which its use is read.
struct MemoryLimit: Sendable {
    enum Kind: Sendable {
        /// A control group's directory.
        case group, legacyGroup
        /// The machine's `meminfo`.
        case machine
    }

    let path: String
    let kind: Kind
    private var kills: MemoryKills?

    init(path: String, kind: Kind) { (self.path, self.kind) = (path, kind) }

    /// The use of the limit; nil if there is no limit, or it cannot be read.
    var usage: MemoryUsage? {
        switch kind {
        case .machine: return KernelFile.text(path).flatMap(MemoryUsage.init(machine:))
        case .group:
            guard let current = file("memory.current"), let statistics = file("memory.stat") else { return nil }
            return MemoryUsage(current: current, high: file("memory.high") ?? "", max: file("memory.max") ?? "", statistics: statistics)
        case .legacyGroup:
            guard let usage = file("memory.usage_in_bytes"), let limit = file("memory.limit_in_bytes"), let statistics = file("memory.stat")
            else { return nil }
            return MemoryUsage(usage: usage, limit: limit, statistics: statistics)
        }
    }

    /// Whether memory has run out since the last call. The events `high` and `max` are ignored: reading files causes
    /// them too.
    mutating func countsNewKills() -> Bool {
        guard kind == .group, let now = file("memory.events").flatMap(MemoryKills.init) else { return false }
        defer { kills = now }
        return kills.map { now.count > $0.count } ?? false
    }

    private func file(_ name: String) -> String? { KernelFile.text("\(path)/\(name)") }
}
