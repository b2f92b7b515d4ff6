/// Detects stalls by the growth of their counters if the kernel offers no triggers. Uses the same shares of time as the
/// triggers.
struct PSIReader: Sendable {
    /// The triggers' window, in microseconds. Without privileges, the kernel accepts only multiples of two seconds.
    static let window = 2_000_000
    /// How long some task may wait in a window before that is a warning; systemd uses the same share for services.
    static let some = 200_000
    /// How long all tasks may wait in a window before that is critical.
    static let full = 100_000

    private var before: (totals: PSITotals, at: Duration)?

    /// Processes the counters. The first reading is always calm, since there is none to compare it with.
    mutating func read(_ totals: PSITotals, at now: Duration) -> PressureLevel {
        defer { before = (totals, now) }
        guard let before, now > before.at else { return .calm }
        let microseconds = (now - before.at) / .microseconds(1)
        func share(_ new: UInt64, _ old: UInt64) -> Double { new > old ? Double(new - old) / microseconds : 0 }
        if share(totals.full, before.totals.full) >= Double(Self.full) / Double(Self.window) { return .critical }
        return share(totals.some, before.totals.some) >= Double(Self.some) / Double(Self.window) ? .warning : .calm
    }
}
