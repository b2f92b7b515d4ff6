public import FoundationEssentials

/// How long a value may be given out after it was stored.
public enum Lifetime: Hashable, Sendable {
    /// Until it is evicted or removed.
    case unlimited
    /// For so long after it was stored; zero or less is over at once.
    case after(Duration)
    /// For so long after it was last read or stored.
    case sliding(Duration)
    /// Until a moment of the wall clock.
    case until(Date)

    /// What a cache uses unless it is told otherwise: twelve hours.
    public static let standard = Lifetime.after(.seconds(12 * 60 * 60))
}
