/// The limits of a cache, and how much of them it may use while memory is short.
struct MemoryRation: Sendable {
    var costLimit: Int
    var countLimit: Int
    private(set) var percent = 100
    /// What it held when memory became short: a cache that was half empty lets go of something too.
    private var held = (cost: 0, count: 0)

    init(costLimit: Int, countLimit: Int) { (self.costLimit, self.countLimit) = (costLimit, countLimit) }

    var costShare: Int { share(of: costLimit) }
    var countShare: Int { share(of: countLimit) }

    /// Takes another share.
    ///
    /// - Returns: to what it is to be trimmed now; nil if it only gets back some of its limits.
    mutating func set(percent: Int, cost: Int, count: Int) -> (cost: Int, count: Int)? {
        let before = self.percent
        self.percent = min(max(0, percent), 100)
        if before == 100 { held = (cost, count) }
        return self.percent < 100 && self.percent <= before ? (share(of: held.cost), share(of: held.count)) : nil
    }

    /// Rounded up: what was little does not become nothing. What has no limit gets none: it is trimmed at each step alone.
    private func share(of whole: Int) -> Int {
        guard whole < .max, percent < 100 else { return whole }
        let (quotient, rest) = whole.quotientAndRemainder(dividingBy: 100)
        return quotient * percent + (rest * percent + 99) / 100
    }
}
