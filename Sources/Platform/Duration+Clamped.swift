extension Duration {
    /// Whole nanoseconds, rounded towards zero and clamped to the range of `Int64`: 292 years.
    package var clampedNanoseconds: Int64 { clamped(perSecond: 1_000_000_000) }

    /// Whole milliseconds, rounded towards zero and clamped to the range of `Int64`: 292 million years.
    package var clampedMilliseconds: Int64 { clamped(perSecond: 1_000) }

    /// The components of the nearest duration that has them: `components` traps from 292 billion years on.
    package var nearestComponents: (seconds: Int64, attoseconds: Int64) {
        min(max(self, .seconds(Int64.min)), .seconds(Int64.max)).components
    }

    private func clamped(perSecond units: Int64) -> Int64 {
        let (seconds, attoseconds) = nearestComponents
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: units)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / units))
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }
}
