public import FoundationEssentials

/// Derives the name under which a ``TwoTierCache`` stores a key's value in its second tier.
///
/// Equal keys must get equal names, and different keys different names.
public struct CacheKeyCoding<Key: Sendable>: Sendable {
    let name: @Sendable (Key) throws -> [UInt8]

    /// Creates a coding from a custom function.
    ///
    /// - Parameter name: called on the threads that use the cache, often. A key for which it throws is kept in memory only.
    public init(_ name: @escaping @Sendable (Key) throws -> [UInt8]) { self.name = name }
}

extension CacheKeyCoding where Key: DiskKey {
    /// The bytes of the key. Equal strings get one name, however they are encoded.
    public static var standard: CacheKeyCoding {
        CacheKeyCoding { key in (key as? String).map(canonicalBytes) ?? key.keyBytes }
    }
}

extension CacheKeyCoding where Key: Encodable {
    /// The key as JSON with sorted keys.
    public static var json: CacheKeyCoding {
        CacheKeyCoding { key in
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(key))
        }
    }
}

/// The UTF-8 of a string's canonical composition. Swift considers both encodings of `é` equal, so both need the same
/// name.
func canonicalBytes(_ text: String) -> [UInt8] {
    text.utf8.allSatisfy { $0 < 0x80 } ? Array(text.utf8) : text._nfcCodeUnits
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
