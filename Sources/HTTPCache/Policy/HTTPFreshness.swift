internal import FreshetCache

/// The age of a stored response, and how long it is fresh (RFC 9111 §4.2).
public struct HTTPFreshness: Hashable, Sendable {
    /// The origin of the lifetime.
    public enum Source: String, Hashable, Sendable {
        /// `Cache-Control: max-age`.
        case maxAge = "max-age"
        /// `Expires`.
        case expires = "Expires"
        /// A share of the time since `Last-Modified`.
        case heuristic
        /// A field is present but unusable: not a number, not a date, or several that differ.
        case invalid = "an invalid field"
        /// Nothing states a lifetime.
        case unknown = "nothing"
    }

    /// Milliseconds since the origin created or validated the response, as far as known.
    public let age: Int64
    /// The seconds from then on for which it is fresh; 0 if nothing states that.
    public let lifetime: Int64
    /// The origin of the lifetime.
    public let source: Source

    /// Whether it is fresh. The second at which the lifetime ends is not included.
    public var isFresh: Bool { age < lifetime.saturatingThousandfold }
    /// For how many milliseconds it has been stale; negative while it is fresh.
    var staleness: Int64 { age.saturatingSubtract(lifetime.saturatingThousandfold) }
}

extension HTTPFreshness: CustomStringConvertible {
    /// `age 12 s of 60 s by max-age`
    public var description: String { "age \(age / 1_000) s of \(lifetime) s by \(source.rawValue)" }
}

extension Int64 {
    /// A thousand times as much, clamped to the range of `Int64`.
    var saturatingThousandfold: Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: 1_000)
        return overflow ? (self > 0 ? .max : .min) : product
    }
}
