/// A tier in memory: ``Cache``, or one of your own. Every member may be called from any thread at once, and none may wait.
///
/// A ``TwoTierCache`` calls none of them while it holds a lock, and looks at the end of what it gets for itself, so a tier needs to keep no
/// lifetimes. It may forget what it likes, whenever it likes.
public protocol PrimaryCacheTier<Key, Value>: Sendable {
    /// What its values are called.
    associatedtype Key: Hashable & Sendable
    /// What it holds.
    associatedtype Value: Sendable

    /// The value of a key, read to be used.
    func value(forKey key: Key) -> Value?
    /// The value of a key, read only to be looked at. Unless told otherwise as ``value(forKey:)``.
    func peek(_ key: Key) -> Value?
    /// Keeps a value in the place of any other. If it cannot, the key holds nothing. What a value costs is the tier's to decide.
    func setValue(_ value: Value, forKey key: Key, lifetime: Lifetime)
    /// Forgets a value.
    func discardValue(forKey key: Key)
    /// Forgets all values.
    func removeAll()
    /// Forgets at least the values for which the closure returns true; all, unless told otherwise.
    func discardAll(where isRemoved: (Key, Value) -> Bool)
}

extension PrimaryCacheTier {
    /// Reads as if to use it.
    public func peek(_ key: Key) -> Value? { value(forKey: key) }
    /// Forgets all: a tier that cannot list what it holds forgets more than it has to.
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
