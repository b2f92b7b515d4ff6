public import FoundationEssentials

/// A value with what a cache knows of it.
public struct CacheEntry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Its key.
    public let key: Key
    /// The value.
    public let value: Value
    /// What it counts towards the cost limit.
    public let cost: Int
    /// When it was stored.
    public let recordedAt: Date
    /// When it was last known to be right: when it was stored, or ``Cache/markVerified(_:lifetime:)`` was called.
    public let verifiedAt: Date
    /// When its lifetime is over unless it is read, written or verified before; nil for never.
    public let expiresAt: Date?
    /// How long each read puts off its end; nil where reads do not.
    public let slidingLifetime: Duration?
    /// The names under which it can be removed.
    public let tags: Set<String>
}
