/// A tier in memory: ``Cache``, or a custom type. Every member may be called from any thread concurrently, and none may
/// block.
///
/// A ``TwoTierCache`` calls no member while it holds a lock. It checks the lifetime of each value that it reads, so a
/// tier needs to keep no lifetimes. The tier may forget any value at any time.
public protocol PrimaryCacheTier<Key, Value>: Sendable {
    /// The type of the keys.
    associatedtype Key: Hashable & Sendable
    /// The type of the values.
    associatedtype Value: Sendable

    /// The value of a key, read for use.
    func value(forKey key: Key) -> Value?
    /// The value of a key, without counting as a use. By default the same as ``value(forKey:)``.
    func peek(_ key: Key) -> Value?
    /// Stores a value and replaces any other. If the tier cannot store the value, the key holds nothing. The tier
    /// decides the cost of a value.
    func setValue(_ value: Value, forKey key: Key, lifetime: Lifetime)
    /// Forgets a value.
    func discardValue(forKey key: Key)
    /// Forgets all values.
    func removeAll()
    /// Removes at least the values for which the closure returns true. By default removes all.
    func discardAll(where isRemoved: (Key, Value) -> Bool)
}

extension PrimaryCacheTier {
    /// Reads the value as for use.
    public func peek(_ key: Key) -> Value? { value(forKey: key) }
    /// Removes all values: a tier that cannot list its values removes more than necessary.
    public func discardAll(where isRemoved: (Key, Value) -> Bool) { removeAll() }
}

extension Cache: PrimaryCacheTier {
    /// Stores a value without tags, at the cost that the cache or the value states.
    @_disfavoredOverload
    public func setValue(_ value: Value, forKey key: Key, lifetime: Lifetime) {
        setValue(value, forKey: key, lifetime: lifetime, tags: [])
    }

    /// The same as ``removeValue(forKey:)``.
    public func discardValue(forKey key: Key) { removeValue(forKey: key) }

    /// The same as ``removeAll(where:)``.
    public func discardAll(where isRemoved: (Key, Value) -> Bool) { removeAll(where: isRemoved) }
}
