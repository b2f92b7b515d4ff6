/// The limits of a cache, and the share of them that it may use while memory is short.
struct LimitScale: Sendable {
    var costLimit: Int
    var countLimit: Int
    private(set) var percent = 100
    /// The cost and count when memory became short: a half-empty cache has to evict something too.
    private var held = (cost: 0, count: 0)

    init(costLimit: Int, countLimit: Int) { (self.costLimit, self.countLimit) = (costLimit, countLimit) }

    var costShare: Int { share(of: costLimit) }
    var countShare: Int { share(of: countLimit) }

    /// Sets another share.
    ///
    /// - Returns: the cost and count to trim to now; nil if the share grew.
    mutating func set(percent: Int, cost: Int, count: Int) -> (cost: Int, count: Int)? {
        let before = self.percent
        self.percent = min(max(0, percent), 100)
        if before == 100 { held = (cost, count) }
        return self.percent < 100 && self.percent <= before ? (share(of: held.cost), share(of: held.count)) : nil
    }

    /// Rounded up, so that a small number does not become zero. An unlimited cache stays unlimited: only the steps
    /// themselves trim it.
    private func share(of whole: Int) -> Int {
        guard whole < .max, percent < 100 else { return whole }
        let (quotient, rest) = whole.quotientAndRemainder(dividingBy: 100)
        return quotient * percent + (rest * percent + 99) / 100
    }
}
