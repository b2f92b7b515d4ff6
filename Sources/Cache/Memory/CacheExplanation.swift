public import FoundationEssentials

/// Explains why a cache does or does not return a value for a key.
public struct CacheExplanation: Sendable, CustomStringConvertible {
    /// The state of a key.
    public enum State: Hashable, Sendable {
        /// It holds a value that can be returned.
        case present
        /// It holds a value whose lifetime is over. A read of the key or later writes remove it.
        case expired
        /// It holds no value; its value was evicted recently. Stored again, it enters the main queue.
        case evictedLately
        /// It holds no value.
        case absent
    }

    /// The queue of an entry.
    public enum Queue: String, Hashable, Sendable {
        /// The queue of new entries. An entry that is hit twice before its turn stays.
        case small
        /// The main queue. An entry stays as long as it is hit between two turns.
        case main
        /// In no queue: the entry is never evicted.
        case pinned
    }

    /// The state of the key.
    public let state: State
    /// The queue of the key's entry; nil if there is none.
    public let queue: Queue?
    /// The hits that count for the entry at its turn, 0 … 3.
    public let frequency: Int
    /// The cost that counts towards the cost limit.
    public let cost: Int
    /// The number of pins.
    public let pins: Int
    /// Whether a load of the value is in flight whose result will be stored.
    public let isLoading: Bool
    /// When the value was stored.
    public let storedAt: Date?
    /// When the value was last known to be right.
    public let validatedAt: Date?
    /// When the value's lifetime is over.
    public let expiresAt: Date?
    /// The share of its limits that the cache may use now, in percent: less than 100 while memory is short, see
    /// ``MemoryPressure``.
    public let limitPercent: Int
    /// The tags by which the value can be removed.
    public let tags: Set<CacheTag>
    /// When the explanation was made.
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
        if let queue { parts.append("in \(queue.rawValue), \(frequency) of 3 hits, cost \(cost)") }
        if let storedAt { parts.append("stored \(Self.span(from: storedAt, to: at)) ago") }
        if let validatedAt, validatedAt != storedAt { parts.append("verified \(Self.span(from: validatedAt, to: at)) ago") }
        if let expiresAt {
            parts.append(
                expiresAt > at ? "expires in \(Self.span(from: at, to: expiresAt))" : "over for \(Self.span(from: expiresAt, to: at))")
        }
        if pins > 0 { parts.append("pinned \(pins) times") }
        if limitPercent < 100 { parts.append("memory is short, the cache is held to \(limitPercent) % of its limits") }
        if isLoading { parts.append("a load is under way") }
        if !tags.isEmpty { parts.append("tags \(tags.sorted().map(\.text).joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }

    /// Formats a time span in the greatest unit that fits.
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
