/// The counters of a `memory.pressure` file: for how long tasks have waited for memory, in microseconds since the
/// machine was started. See <https://docs.kernel.org/accounting/psi.html>.
struct PSITotals: Hashable, Sendable {
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
