public import FoundationEssentials
public import FreshetWire

/// How the values of a collection become bytes and come back.
public struct ValueCodec<Value: Sendable>: Sendable {
    /// Value to bytes; what it throws becomes ``ClientError/notEncodable(_:)``.
    public let encode: @Sendable (Value) throws -> Content
    /// Bytes to value; what it throws becomes ``ClientError/notDecodable(key:_:)``.
    public let decode: @Sendable (Content) throws -> Value

    /// A codec of one's own. The same value must always give the same bytes.
    public init(encode: @escaping @Sendable (Value) throws -> Content, decode: @escaping @Sendable (Content) throws -> Value) {
        self.encode = encode
        self.decode = decode
    }
}

extension ValueCodec where Value: Codable {
    /// JSON with sorted member names, so that equal values are equal bytes.
    ///
    /// - Parameters:
    ///   - encoder: makes the encoder, for other strategies of dates, data or names; keep the sorted keys.
    ///   - decoder: makes the decoder that reads it.
    public static func json(
        encoder: @escaping @Sendable () -> JSONEncoder = {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return encoder
        },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> ValueCodec {
        ValueCodec(
            encode: { try Content(json: Array(encoder().encode($0))) },
            decode: { content in
                guard content.isJSON else { throw WireError.unexpectedJSON("it is \(content.type), not \(Content.json)") }
                return try decoder().decode(Value.self, from: Data(content.bytes))
            })
    }
}

extension ValueCodec where Value == Content {
    /// The bytes as they are, with their media type.
    public static let raw = ValueCodec(encode: { $0 }, decode: { $0 })
}
