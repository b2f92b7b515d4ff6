public import FoundationEssentials

/// Derives the name under which a ``TwoTierCache`` stores a key's value in its second tier.
///
/// **Two keys must have the same name exactly if they are equal by their own `==`.** With one name for different keys, the
/// cache returns the value of another key. With two names for equal keys, a removal leaves the value under the other
/// name, and a later read returns it. A key with several parts is named by a closure; strings take part by their
/// `nameBytes`, since Swift compares them by canonical equivalence:
///
/// ```swift
/// CacheKeyCoding { "\($0.user)/\($0.page)".nameBytes }
/// ```
public struct CacheKeyCoding<Key: Sendable>: Sendable {
    let name: @Sendable (Key) throws -> [UInt8]

    /// Creates a coding from a custom function.
    ///
    /// - Parameter name: called on the threads that use the cache, often. A key for which it throws is kept in memory only.
    public init(_ name: @escaping @Sendable (Key) throws -> [UInt8]) { self.name = name }
}

extension CacheKeyCoding where Key: DiskKey {
    /// The name that the key states, ``DiskKey/nameBytes``.
    public static var standard: CacheKeyCoding { CacheKeyCoding { $0.nameBytes } }
}

/// Integers are encoded as eight bytes that sort in numeric order.
extension DiskKey where Self: FixedWidthInteger {
    /// Lends the key's bytes until the closure ends.
    public func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let flipped = Self.isSigned ? UInt64(bitPattern: Int64(truncatingIfNeeded: self)) ^ 1 << 63 : UInt64(truncatingIfNeeded: self)
        return try withUnsafeBytes(of: flipped.bigEndian, body)
    }
}

extension DiskKey where Self: RawRepresentable, RawValue: DiskKey {
    /// Lends the raw value's bytes until the closure ends.
    public func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try rawValue.withKeyBytes(body)
    }

    /// The name of the raw value, by which such types are compared. A type with another `==` states its own name.
    public var nameBytes: [UInt8] { rawValue.nameBytes }
}

extension Int: DiskKey {}
extension Int8: DiskKey {}
extension Int16: DiskKey {}
extension Int32: DiskKey {}
extension Int64: DiskKey {}
extension UInt: DiskKey {}
extension UInt8: DiskKey {}
extension UInt16: DiskKey {}
extension UInt32: DiskKey {}
extension UInt64: DiskKey {}

extension UUID: DiskKey {
    /// Lends the sixteen bytes until the closure ends.
    public func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: uuid, body)
    }
}
