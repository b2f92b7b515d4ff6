/// How old a stored response is, and how long it counts as fresh (RFC 9111 §4.2).
public struct HTTPFreshness: Hashable, Sendable {
    /// What the lifetime comes from.
    public enum Source: String, Hashable, Sendable {
        /// `Cache-Control: max-age`.
        case maxAge = "max-age"
        /// `Expires`.
        case expires = "Expires"
        /// A share of the time since `Last-Modified`.
        case heuristic
        /// Such a field is there and cannot be relied on: no number, no date, or several that differ.
        case invalid = "an invalid field"
        /// Nothing says it.
        case unknown = "nothing"
    }

    /// Milliseconds since the origin made or validated it, as far as that is known.
    public let age: Int64
    /// Seconds from then on for which it is fresh; 0 where nothing says so.
    public let lifetime: Int64
    /// What the lifetime comes from.
    public let source: Source

    /// Whether it is fresh. The second at which the lifetime ends is no more within it.
    public var isFresh: Bool { age < lifetime.saturatingThousandfold }
    /// For how many milliseconds it has been stale; negative while it is fresh.
    var staleness: Int64 { age.saturatingSubtract(lifetime.saturatingThousandfold) }
}

extension HTTPFreshness: CustomStringConvertible {
    /// `age 12 s of 60 s by max-age`
    public var description: String { "age \(age / 1_000) s of \(lifetime) s by \(source.rawValue)" }
}
