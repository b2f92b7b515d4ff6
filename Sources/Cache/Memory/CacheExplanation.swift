public import FoundationEssentials

/// Why a cache does or does not give out a value for a key.
public struct CacheExplanation: Sendable, CustomStringConvertible {
    /// How a key stands.
    public enum State: Hashable, Sendable {
        /// It holds a value that is given out.
        case present
        /// It holds a value whose lifetime is over; it leaves when it is asked for or as others are written.
        case expired
        /// It holds none, and its value was evicted not long ago: once stored again it enters the main queue.
        case evictedLately
        /// It holds none.
        case absent
    }

    /// Where an entry waits.
    public enum Place: String, Hashable, Sendable {
        /// New: it stays if it is hit twice before its turn comes.
        case small
        /// It stays as long as it is hit between two turns.
        case main
        /// It is never evicted.
        case pinned
    }

    /// How the key stands.
    public let state: State
    /// Where its entry waits; nil where there is none.
    public let place: Place?
    /// Hits that count in its favour when its turn comes, 0 … 3.
    public let frequency: Int
    /// What it counts towards the cost limit.
    public let cost: Int
    /// How often it is pinned.
    public let pins: Int
    /// Whether a load of its value is under way that will be stored.
    public let isLoading: Bool
    /// When it was stored.
    public let recordedAt: Date?
    /// When it was last known to be right.
    public let verifiedAt: Date?
    /// When its lifetime is over.
    public let expiresAt: Date?
    /// The share of its limits that the whole cache may use now, in percent: less than 100 while memory is short, see ``MemoryPressure``.
    public let limitPercent: Int
    /// The names under which it can be removed.
    public let tags: Set<String>
    /// What time it was.
    public let at: Date

    /// A sentence or two, for people.
    public var description: String {
        var parts: [String] = []
        switch state {
        case .present: parts.append("present")
        case .expired: parts.append("expired")
        case .evictedLately: parts.append("absent, evicted lately")
        case .absent: parts.append("absent")
        }
        if let place { parts.append("in \(place.rawValue), \(frequency) of 3 hits, cost \(cost)") }
        if let recordedAt { parts.append("stored \(Self.span(from: recordedAt, to: at)) ago") }
        if let verifiedAt, verifiedAt != recordedAt { parts.append("verified \(Self.span(from: verifiedAt, to: at)) ago") }
        if let expiresAt {
            parts.append(
                expiresAt > at ? "expires in \(Self.span(from: at, to: expiresAt))" : "over for \(Self.span(from: expiresAt, to: at))")
        }
        if pins > 0 { parts.append("pinned \(pins) times") }
        if limitPercent < 100 { parts.append("memory is short, the cache is held to \(limitPercent) % of its limits") }
        if isLoading { parts.append("a load is under way") }
        if !tags.isEmpty { parts.append("tags \(tags.sorted().joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }

    /// In the greatest unit that fits.
    private static func span(from start: Date, to end: Date) -> String {
        let seconds = Int(min(max(0, end.timeIntervalSince(start)), 1e15))
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) d"
        }
    }
}
