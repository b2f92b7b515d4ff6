internal import FoundationEssentials
internal import FreshetPlatform

/// When a stored entry is over, by the wall clock, in milliseconds since 1970: the only clock that goes on while nobody runs.
struct DiskDeadline: Hashable, Sendable {
    /// `Int64.max` for never.
    var end: Int64
    /// For so long after its last use, in milliseconds; 0 if uses do not count.
    var sliding: Int64

    /// How far in the future an entry may have been stored, by a wall clock that has been set back a little since.
    static let slack: Int64 = 60_000

    init(end: Int64, sliding: Int64) {
        self.end = end
        self.sliding = sliding
    }

    init(_ lifetime: Lifetime, from now: Int64) {
        switch lifetime {
        case .unlimited: self.init(end: .max, sliding: 0)
        case .after(let duration): self.init(end: Self.add(now, duration.clampedMilliseconds), sliding: 0)
        case .sliding(let duration):
            let length = duration.clampedMilliseconds
            // None at all is over at once, as with `after`.
            self.init(end: length > 0 ? .max : now, sliding: max(0, min(length, 1 << 52)))
        case .until(let date): self.init(end: Self.milliseconds(date), sliding: 0)
        }
    }

    /// The moment at which it is over; `nil` for never, and where each use prolongs it.
    var endDate: Date? { end == .max ? nil : Self.date(end) }
    /// How long each use prolongs it; `nil` where uses do not.
    var slidingLifetime: Duration? { sliding > 0 ? .milliseconds(sliding) : nil }

    var isLimited: Bool { end != .max || sliding > 0 }

    /// Whether the entry may still be given out.
    ///
    /// An entry from the future was stored before the clock was set back: nobody knows how old it is, so it is over. Else it would
    /// live until the clock has come that far again.
    ///
    /// - Parameters:
    ///   - stored: when it was stored, or last verified.
    ///   - used: when it was last used.
    func isOpen(at now: Int64, stored: Int64, used: Int64) -> Bool {
        guard isLimited else { return true }
        let latest = Self.add(now, Self.slack)
        guard now < end, stored <= latest else { return false }
        guard sliding > 0 else { return true }
        return used <= latest && now < Self.add(max(stored, used), sliding)
    }

    /// When the entry ends if it is not used again.
    func expires(stored: Int64, used: Int64) -> Int64 { sliding > 0 ? min(end, Self.add(max(stored, used), sliding)) : end }

    private static func add(_ moment: Int64, _ length: Int64) -> Int64 {
        let (sum, overflow) = moment.addingReportingOverflow(length)
        return overflow ? (length > 0 ? .max : .min) : sum
    }

    static func milliseconds(_ date: Date) -> Int64 {
        let value = date.timeIntervalSince1970 * 1_000
        // A date that is no number says nothing: over at once.
        guard !value.isNaN else { return .min }
        return value >= 9e18 ? .max : value <= -9e18 ? .min : Int64(value)
    }

    static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
