/// The counters of a `memory.pressure` file: for how long tasks have waited for memory, in microseconds since the
/// machine was started. See <https://docs.kernel.org/accounting/psi.html>.
struct StallTotals: Hashable, Sendable {
    /// The time in which at least one task waited.
    var some: UInt64
    /// The time in which all runnable tasks waited; zero if the kernel does not report it.
    var full: UInt64

    init(some: UInt64, full: UInt64) { (self.some, self.full) = (some, full) }

    /// - Returns: nil if the text is malformed.
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

/// Judges stalls by the growth of their counters if the kernel offers no triggers. Uses the same shares of time as the
/// triggers.
struct StallMeter: Sendable {
    /// The triggers' window, in microseconds. Without privileges, the kernel accepts only multiples of two seconds.
    static let window = 2_000_000
    /// How long some task may wait in a window before that is a warning; systemd uses the same share for services.
    static let some = 200_000
    /// How long all tasks may wait in a window before that is critical.
    static let full = 100_000

    private var before: (totals: StallTotals, at: Duration)?

    /// Processes the counters. The first reading is always calm, since there is none to compare it with.
    mutating func read(_ totals: StallTotals, at now: Duration) -> PressureSign {
        defer { before = (totals, now) }
        guard let before, now > before.at else { return .calm }
        let microseconds = (now - before.at) / .microseconds(1)
        func share(_ new: UInt64, _ old: UInt64) -> Double { new > old ? Double(new - old) / microseconds : 0 }
        if share(totals.full, before.totals.full) >= Double(Self.full) / Double(Self.window) { return .critical }
        return share(totals.some, before.totals.some) >= Double(Self.some) / Double(Self.window) ? .warning : .calm
    }
}
