public import FoundationEssentials

extension Timestamp {
    /// The time as a `Date`. A `Date` counts in `Double`, which keeps every millisecond of these years.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    /// The date rounded to milliseconds and clamped to the years 0000 … 9999; NaN counts as 1970-01-01T00:00:00Z.
    public init(_ date: Date) {
        let value = (date.timeIntervalSince1970 * 1_000).rounded()
        self.init(milliseconds: value.isNaN ? 0 : value >= 0x1p62 ? .max : value <= -0x1p62 ? .min : Int64(value))
    }
}

extension Date {
    /// The time of a timestamp.
    public init(_ timestamp: Timestamp) { self = timestamp.date }
}
