/// The counters of a `memory.pressure` file: how long work has waited for memory, in microseconds since the machine was started.
/// See <https://docs.kernel.org/accounting/psi.html>.
struct StallTotals: Hashable, Sendable {
    /// While at least one task waited.
    var some: UInt64
    /// While all that had something to do waited; none where the kernel does not tell.
    var full: UInt64

    init(some: UInt64, full: UInt64) { (self.some, self.full) = (some, full) }

    /// - Returns: nil if the text is no such file's.
    init?(_ text: String) {
        var totals: [Substring: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let kind = words.first, let total = words.last, total.hasPrefix("total=") else { return nil }
            totals[kind] = UInt64(total.dropFirst(6))
        }
        guard let some = totals["some"] else { return nil }
        self.init(some: some, full: totals["full"] ?? 0)
    }
}

/// Judges stalls by the growth of their counters, where the kernel cannot be asked to tell: by the same shares of time as its triggers.
struct StallMeter: Sendable {
    /// The triggers' window, in microseconds. Without rights, the kernel takes multiples of two seconds alone.
    static let window = 2_000_000
    /// How much of it some task may wait before that is a warning; systemd's choice for services too.
    static let some = 200_000
    /// How much of it all may stand still before that is critical.
    static let full = 100_000

    private var before: (totals: StallTotals, at: Duration)?

    /// Takes the counters. The first time it says that all is calm, since there is nothing to compare them with.
    mutating func read(_ totals: StallTotals, at now: Duration) -> PressureSign {
        defer { before = (totals, now) }
        guard let before, now > before.at else { return .calm }
        let microseconds = (now - before.at) / .microseconds(1)
        func share(_ new: UInt64, _ old: UInt64) -> Double { new > old ? Double(new - old) / microseconds : 0 }
        if share(totals.full, before.totals.full) >= Double(Self.full) / Double(Self.window) { return .critical }
        return share(totals.some, before.totals.some) >= Double(Self.some) / Double(Self.window) ? .warning : .calm
    }
}
