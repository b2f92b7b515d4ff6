internal import FoundationEssentials

/// Encodes the values of a ``TwoTierCache`` as bytes, and decodes them. The closures run in the cache's tasks.
public struct CacheValueCoding<Value: Sendable>: Sendable {
    let encode: @Sendable (Value) throws -> [UInt8]
    let decode: @Sendable ([UInt8]) throws -> Value

    /// Creates a coding from two closures.
    ///
    /// - Parameters:
    ///   - encode: encodes a value. A value for which it throws stays in memory.
    ///   - decode: decodes a value. Bytes for which it throws count as a miss and are removed.
    public init(encode: @escaping @Sendable (Value) throws -> [UInt8], decode: @escaping @Sendable ([UInt8]) throws -> Value) {
        self.encode = encode
        self.decode = decode
    }
}

extension CacheValueCoding where Value: Codable {
    /// JSON, except that `[UInt8]` is stored as it is, and `String` as UTF-8.
    public static var standard: CacheValueCoding {
        if let raw = CacheValueCoding<[UInt8]>.raw as? CacheValueCoding { return raw }
        if let text = CacheValueCoding<String>.text as? CacheValueCoding { return text }
        return json
    }

    /// JSON.
    public static var json: CacheValueCoding {
        CacheValueCoding(
            encode: { Array(try JSONEncoder().encode($0)) }, decode: { try JSONDecoder().decode(Value.self, from: Data($0)) })
    }
}

extension CacheValueCoding where Value == [UInt8] {
    /// The bytes as they are.
    public static var raw: CacheValueCoding { CacheValueCoding(encode: { $0 }, decode: { $0 }) }
}

extension CacheValueCoding where Value == String {
    /// UTF-8.
    public static var text: CacheValueCoding {
        CacheValueCoding(
            encode: { Array($0.utf8) },
            decode: { bytes in
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no UTF-8"))
                }
                return text
            })
    }
}
