/// Formats counts and shares for people.
package enum StatisticsText {
    /// A share with one decimal, such as `90.0 %`.
    package static func percent(_ share: Double) -> String {
        guard share.isFinite else { return "?" }
        let tenths = Int((min(max(share, 0), 1) * 1_000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// For example `90 hits and 10 misses (90.0 %)`; no share before the first read.
    static func reads(hits: Int, misses: Int) -> String {
        let share = hits == 0 && misses == 0 ? "" : " (\(percent(Double(hits: hits, misses: misses))))"
        return "\(hits) hits and \(misses) misses\(share)"
    }

    /// For example `, 3 written, 1 evicted`. Omits counts that are zero.
    static func counts(_ counts: [(count: Int, name: String)]) -> String {
        counts.reduce(into: "") { text, next in if next.count != 0 { text += ", \(next.count) \(next.name)" } }
    }
}
