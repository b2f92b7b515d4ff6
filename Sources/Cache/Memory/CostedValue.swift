public import FoundationEssentials

/// A value that states its cost in a cache with a cost limit.
///
/// Bytes, `Data` and strings cost their bytes. Conform a custom type so that a ``Cache`` of it needs no `cost` closure:
///
/// ```swift
/// extension Picture: CostedValue {
///     var cacheCost: Int { pixels.count }
/// }
/// ```
public protocol CostedValue: Sendable {
    /// The cost, in bytes unless all values of the cache use another unit. Less than 1 counts as 1.
    ///
    /// The cache reads it once for each write, on the thread that writes, while it holds no lock.
    var cacheCost: Int { get }
}

extension Array: CostedValue where Element == UInt8 {
    /// The number of bytes. O(1).
    @inlinable public var cacheCost: Int { count }
}

extension ArraySlice: CostedValue where Element == UInt8 {
    /// The number of bytes of the slice, not of the array that it keeps in memory. O(1).
    @inlinable public var cacheCost: Int { count }
}

extension ContiguousArray: CostedValue where Element == UInt8 {
    /// The number of bytes. O(1).
    @inlinable public var cacheCost: Int { count }
}

extension Data: CostedValue {
    /// The number of bytes. O(1).
    @inlinable public var cacheCost: Int { count }
}

extension String: CostedValue {
    /// The number of bytes in UTF-8. O(1) for native strings.
    @inlinable public var cacheCost: Int { utf8.count }
}

extension Substring: CostedValue {
    /// The number of bytes in UTF-8, not those of the string that it keeps in memory. O(1) for native strings.
    @inlinable public var cacheCost: Int { utf8.count }
}

extension Cache {
    /// Computes the cost of a value whose write states none, for a type that states it; nil for any other type.
    static var statedCost: (@Sendable (Value) -> Int)? {
        func cost<Costed: CostedValue>(_: Costed.Type) -> (@Sendable (Value) -> Int)? {
            let cost: @Sendable (Costed) -> Int = { $0.cacheCost }
            // `Costed` is `Value`, which only the run time knows.
            return cost as? @Sendable (Value) -> Int
        }
        return (Value.self as? any CostedValue.Type).flatMap { cost($0) }
    }
}

extension Cache where Value: CostedValue {
    /// Creates an empty cache with a cost limit, for values that state their cost, such as bytes, `Data` and strings.
    ///
    /// - Parameters:
    ///   - costLimit: the greatest total cost of all values, in bytes for bytes and text; less than zero is zero.
    ///   - countLimit: the greatest number of values; less than zero is zero.
    ///   - lifetime: the lifetime of a value whose write does not state one.
    ///   - clock: the source of time.
    ///   - shards: the number of locks for reads, rounded up to a power of two, 1 … 256; by default four for each
    ///     processor.
    public convenience init(
        costLimit: Int, countLimit: Int = .max, lifetime: Lifetime = .standard, clock: CacheClock = .system, shards: Int? = nil
    ) {
        self.init(costLimit, countLimit, lifetime, clock, shards, statedCost: { $0.cacheCost })
    }
}
