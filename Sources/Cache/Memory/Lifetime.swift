public import FoundationEssentials

/// How long a value may be returned after it was stored.
public enum Lifetime: Hashable, Sendable {
    /// Until it is evicted or removed.
    case unlimited
    /// For a duration after the value was stored; zero or less is over at once.
    case after(Duration)
    /// For a duration after the value was last read or stored.
    case sliding(Duration)
    /// Until a time of the wall clock.
    case until(Date)

    /// The default lifetime of a cache: twelve hours.
    public static let standard = Lifetime.after(.seconds(12 * 60 * 60))
}
