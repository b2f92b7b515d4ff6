/// Decides when to read the clocks next, and interprets their readings. Pure: the readings are passed in, in milliseconds.
struct WakeSchedule {
    /// How long a sleep may go undetected.
    static let interval: Int64 = 5_000
    /// A smaller difference is the two clocks' inaccuracy, not sleep.
    static let sleepThreshold: Int64 = 500
    /// A look that is less late than this is due to a busy machine, not to one that was halted.
    static let haltThreshold: Int64 = 5_000

    /// The uptime of the machine's next deadline; `nil` for none.
    var deadline: Int64?
    /// The uptime at which reads for observers are repeated; `nil` for none.
    var readDeadline: Int64?
    private var expected: Int64
    /// Whether a timer is set for ``expected``.
    private var isArmed = false
    private var slept: Int64

    /// - Parameters:
    ///   - uptime: since boot, sleep included.
    ///   - slept: the sleep included in it.
    init(uptime: Int64, slept: Int64) {
        expected = uptime
        self.slept = slept
    }

    /// Returns whether the device slept or halted since the last look, and which deadlines have passed, which are then
    /// removed.
    mutating func look(uptime: Int64, slept: Int64) -> (gap: Bool, due: Bool, readDue: Bool) {
        let gap = slept - self.slept > Self.sleepThreshold || uptime - expected > Self.haltThreshold
        self.slept = slept
        isArmed = false
        return (gap, Self.take(&deadline, at: uptime), Self.take(&readDeadline, at: uptime))
    }

    private static func take(_ deadline: inout Int64?, at uptime: Int64) -> Bool {
        guard let passed = deadline, passed <= uptime else { return false }
        deadline = nil
        return true
    }

    /// Returns how long to wait for the next look, and notes it; `nil` if the timer that is set comes early enough.
    ///
    /// Each response of the server moves the deadlines: an unnecessary look costs less than a timer for each response.
    mutating func wait(uptime: Int64) -> Int64? {
        // The timer's clock does not advance in a sleep: when overdue, it may come late. The expected time is kept,
        // for the look to detect the gap.
        if isArmed, expected <= uptime { return 0 }
        let wait = min(max(0, min(deadline ?? .max, readDeadline ?? .max) - uptime), Self.interval)
        guard !isArmed || uptime + wait < expected else { return nil }
        expected = uptime + wait
        isArmed = true
        return wait
    }
}
