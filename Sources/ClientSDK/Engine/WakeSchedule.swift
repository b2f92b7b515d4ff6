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
    /// Whether a timer is set for ``expected``.
    private var isArmed = false
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
        isArmed = false
        let due = deadline.map { $0 <= uptime } ?? false
        if due { deadline = nil }
        return (gap, due)
    }

    /// How long to wait for the next look, which is noted; `nil` where the timer that is set comes early enough.
    ///
    /// Deadlines move on with each answer of the server: a look too many costs less than an alarm for each.
    mutating func wait(uptime: Int64) -> Int64? {
        // The timer's own clock stands still in a sleep: overdue, it may come late. What was expected stays, for the look to find the gap.
        if isArmed, expected <= uptime { return 0 }
        let wait = min(max(0, (deadline ?? .max) - uptime), Self.interval)
        guard !isArmed || uptime + wait < expected else { return nil }
        expected = uptime + wait
        isArmed = true
        return wait
    }
}
