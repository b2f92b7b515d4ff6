public import FoundationEssentials

/// A value of a cache with its metadata.
public struct CacheEntry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Its key.
    public let key: Key
    /// The value.
    public let value: Value
    /// The cost that counts towards the cost limit.
    public let cost: Int
    /// When the value was stored.
    public let storedAt: Date
    /// When the value was last known to be right: when it was stored, or ``Cache/freshenValue(forKey:lifetime:)`` was
    /// called.
    public let validatedAt: Date
    /// When the lifetime is over, unless the value is read, written or verified before; nil for never.
    public let expiresAt: Date?
    /// By how long each read extends the lifetime; nil if reads do not.
    public let slidingLifetime: Duration?
    /// The tags by which the value can be removed.
    public let tags: Set<CacheTag>
}
