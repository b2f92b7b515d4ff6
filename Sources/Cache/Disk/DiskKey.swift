/// What an entry of a ``DiskCache`` is called: any string, or any bytes.
///
/// To a `DiskCache` two keys are the same when their bytes are: `é` in its two spellings is two keys, and a string is the same key
/// as its UTF-8. To a ``TwoTierCache`` they are the same when they are equal, so there the value is stored under ``nameBytes``.
public protocol DiskKey: Sendable {
    /// Lends the key's bytes until the closure ends.
    func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result

    /// The name under which a ``TwoTierCache`` stores the key's value.
    ///
    /// **Two keys must have the same name exactly if they are equal by their own `==`.** By default the key's bytes, which is
    /// right if `==` compares these. A key that contains strings, which Swift compares by canonical equivalence, takes the
    /// `nameBytes` of these strings:
    ///
    /// ```swift
    /// extension Page: DiskKey {
    ///     func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    ///         try nameBytes.withKeyBytes(body)
    ///     }
    ///     var nameBytes: [UInt8] { number.nameBytes + title.nameBytes }  // a number has eight bytes, so that none are mixed up
    /// }
    /// ```
    var nameBytes: [UInt8] { get }
}

extension DiskKey {
    /// The key's bytes.
    public var nameBytes: [UInt8] { keyBytes }
}

extension String: DiskKey {
    /// Lends the string's UTF-8 until the closure ends.
    public func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        // Nothing is copied for a native string.
        var text = self
        return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    }

    /// The UTF-8 of the string's canonical decomposition: strings have the same exactly if they are equal.
    ///
    /// Of the canonical forms it is the one in which an accent does not change the bytes before it, so that `user/` is a
    /// prefix of each name that begins with it.
    public var nameBytes: [UInt8] { CanonicalText.bytes(self) }
}

extension [UInt8]: DiskKey {
    /// Lends the bytes until the closure ends.
    public func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(body)
    }
}

extension DiskKey {
    var keyBytes: [UInt8] { withKeyBytes { Array($0) } }
}

/// The number of a key's row: its hash. Two keys of one number displace each other, which costs a miss and never gives a wrong value,
/// for each record holds its whole key.
struct KeyHash: Hashable, Sendable {
    let value: Int64

    init(_ key: UnsafeRawBufferPointer) { value = Int64(bitPattern: DiskChecksum.of(key, seed: 1)) }

    init(_ key: [UInt8]) { self = key.withUnsafeBytes { KeyHash($0) } }

    init(row: Int64) { value = row }

    /// Sixteen hexadecimal digits: the beginning of the name of the file that holds the value, if one does.
    var digits: String { Self.digits(UInt64(bitPattern: value)) }

    static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
