/// When to look at the clocks next, and what a look finds. Pure: the clocks' readings are passed in, in milliseconds.
struct WakeSchedule {
    /// How long a sleep goes unnoticed at most.
    static let interval: Int64 = 5_000
    /// Less sleep than this is the two clocks' own difference.
    static let sleepThreshold: Int64 = 500
    /// A look that comes less late than this comes from a busy machine, not one that was halted.
    static let haltThreshold: Int64 = 5_000

    /// The uptime at which something is to be done; `nil` for nothing.
    var deadline: Int64?
    private var expected: Int64
    private var slept: Int64

    /// - Parameters:
    ///   - uptime: since boot, sleep included.
    ///   - slept: how much of it was sleep.
    init(uptime: Int64, slept: Int64) {
        expected = uptime
        self.slept = slept
    }

    /// Whether the device slept or stood still since the last look, and whether the deadline has passed, which is then forgotten.
    mutating func look(uptime: Int64, slept: Int64) -> (gap: Bool, due: Bool) {
        let gap = slept - self.slept > Self.sleepThreshold || uptime - expected > Self.haltThreshold
        self.slept = slept
        let due = deadline.map { $0 <= uptime } ?? false
        if due { deadline = nil }
        return (gap, due)
    }

    /// How long to wait for the next look, which is noted.
    mutating func wait(uptime: Int64) -> Int64 {
        let wait = min(max(0, (deadline ?? .max) - uptime), Self.interval)
        expected = uptime + wait
        return wait
    }
}
