/// How far caches shrink, and when they grow again: takes signs and times, and returns the share of their limits that caches may use.
///
/// A warning takes one step down, what is critical two. Steps down keep a distance, so that the effect of one shows before the next. A step up takes
/// a time of calm; if pressure is back soon after it, the next one takes twice as long, up to sixteen times.
struct PressureMachine: Sendable {
    /// In percent of the limits.
    static let steps = [100, 50, 25, 10]
    /// The window of the kernel's triggers: a stall that has passed is told until its window is over.
    static let distance = Duration.seconds(2)
    static let mostPatience = 16

    private let calm: Duration
    private var step = 0
    private var latest = Duration.zero
    /// When it last stepped down or told again to, and how many steps the signs since then took.
    private var shrinking: (at: Duration, steps: Int)?
    private var lastTense = Duration.zero
    private var grownAt: Duration?
    private(set) var patience: Duration

    /// - Parameter calm: how long there must be no pressure before a step up; at least a second, at most 30 days.
    init(calm: Duration) {
        self.calm = min(max(.seconds(1), calm), .seconds(30 * 86_400))
        patience = self.calm
    }

    /// The share of their limits that caches may use now.
    var percent: Int { Self.steps[step] }

    /// When to call ``advance(to:)``, if nothing comes before that.
    var nextGrowth: Duration? { step == 0 ? nil : lastTense + patience }

    /// Takes a sign.
    ///
    /// - Returns: the share that caches are to be told now: another one, or while pressure goes on at the last step, that one again.
    mutating func see(_ sign: PressureSign, at now: Duration) -> Int? {
        let now = pass(now)
        switch sign {
        case .calm: return advance(to: now)
        case .tense:
            lastTense = now
            return nil
        case .warning, .critical:
            lastTense = now
            judgeGrowth(now)
            return shrink(by: sign == .critical ? 2 : 1, now)
        }
    }

    /// Lets time pass. One step up at most, however long it was.
    mutating func advance(to now: Duration) -> Int? {
        let now = pass(now)
        guard let nextGrowth, now >= nextGrowth else { return nil }
        judgeGrowth(now)
        step -= 1
        (lastTense, grownAt, shrinking) = (now, now, nil)
        return percent
    }

    /// A clock never goes back, whoever reads it first.
    private mutating func pass(_ now: Duration) -> Duration {
        latest = max(latest, now)
        return latest
    }

    private mutating func shrink(by wanted: Int, _ now: Duration) -> Int? {
        var wanted = wanted
        if let shrinking, now - shrinking.at < Self.distance {
            // What turns critical after a warning goes on to where it would have gone at once.
            guard wanted > shrinking.steps else { return nil }
            self.shrinking?.steps = wanted
            wanted -= shrinking.steps
        } else {
            shrinking = (now, wanted)
        }
        step = min(step + wanted, Self.steps.count - 1)
        return percent
    }

    /// Whether the last step up was too soon shows in what followed it.
    private mutating func judgeGrowth(_ now: Duration) {
        guard let grownAt else { return }
        patience = now - grownAt < patience ? min(patience * 2, calm * Self.mostPatience) : calm
        self.grownAt = nil
    }
}
