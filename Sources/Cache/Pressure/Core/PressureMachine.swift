/// Decides how far caches shrink, and when they grow again. Takes signs and times, and returns the share of their
/// limits that caches may use.
///
/// A warning takes one step down, a critical sign two. Steps down are some time apart, so that the effect of one shows
/// before the next. A step up requires a time without pressure. If pressure returns soon after it, the next step up
/// requires twice that time, up to sixteen times.
struct PressureMachine: Sendable {
    /// In percent of the limits.
    static let steps = [100, 50, 25, 10]
    /// The window of the kernel's triggers: they report a stall until its window is over.
    static let distance = Duration.seconds(2)
    static let mostPatience = 16

    private let calm: Duration
    private var step = 0
    private var latest = Duration.zero
    /// The time of the last step down, or of its repetition at the last step, and the steps that the signs since then
    /// have taken.
    private var shrinking: (at: Duration, steps: Int)?
    private var lastTense = Duration.zero
    private var grownAt: Duration?
    private(set) var patience: Duration

    /// - Parameter calm: the time without pressure before a step up; at least a second, at most 30 days.
    init(calm: Duration) {
        self.calm = min(max(.seconds(1), calm), .seconds(30 * 86_400))
        patience = self.calm
    }

    /// The share of their limits that caches may use now.
    var percent: Int { Self.steps[step] }

    /// When to call ``advance(to:)`` if no sign comes before.
    var nextGrowth: Duration? { step == 0 ? nil : lastTense + patience }

    /// Processes a sign.
    ///
    /// - Returns: the share to pass to the caches: a new one, or the same one while pressure goes on at the last step;
    ///   nil for none.
    mutating func see(_ level: PressureLevel, at now: Duration) -> Int? {
        let now = pass(now)
        switch level {
        case .calm: return advance(to: now)
        case .tense:
            lastTense = now
            return nil
        case .warning, .critical:
            lastTense = now
            checkGrowth(now)
            return shrink(by: level == .critical ? 2 : 1, now)
        }
    }

    /// Advances the time, with at most one step up.
    mutating func advance(to now: Duration) -> Int? {
        let now = pass(now)
        guard let nextGrowth, now >= nextGrowth else { return nil }
        checkGrowth(now)
        step -= 1
        (lastTense, grownAt, shrinking) = (now, now, nil)
        return percent
    }

    /// Keeps the time monotonic, since several threads read the clock.
    private mutating func pass(_ now: Duration) -> Duration {
        latest = max(latest, now)
        return latest
    }

    private mutating func shrink(by wanted: Int, _ now: Duration) -> Int? {
        var wanted = wanted
        if let shrinking, now - shrinking.at < Self.distance {
            // A critical sign after a warning takes the steps that are missing to two.
            guard wanted > shrinking.steps else { return nil }
            self.shrinking?.steps = wanted
            wanted -= shrinking.steps
        } else {
            shrinking = (now, wanted)
        }
        step = min(step + wanted, Self.steps.count - 1)
        return percent
    }

    /// Doubles the patience if pressure returned soon after the last step up, else resets it.
    private mutating func checkGrowth(_ now: Duration) {
        guard let grownAt else { return }
        patience = now - grownAt < patience ? min(patience * 2, calm * Self.mostPatience) : calm
        self.grownAt = nil
    }
}
