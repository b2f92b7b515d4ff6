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
    /// A `Date` is a text as of RFC 3339, a profile of ISO 8601: in UTC, with no digits after the second where it has no fraction, otherwise with
    /// the fewest of 3, 6 and 9 that give the same `Date` again, such as `2026-11-21T15:34:05.250Z`. Years are 0 to 9999; other dates do not
    /// encode. Reading takes any number of digits and any offset, so what other languages write by default can be read:
    /// `Date.prototype.toISOString` in JavaScript, `datetime.isoformat` with a time zone in Python, `time.RFC3339Nano` in Go, `Instant.toString`
    /// in Java. These read it too; some keep no more than three or six digits of the fraction.
    ///
    /// Reading takes a number as well, as the seconds since 2001 that earlier versions wrote, so their records need no conversion; a record is
    /// stored with a text when it is written the next time. Programs of those earlier versions cannot read the text.
    ///
    /// - Parameters:
    ///   - encoder: makes the encoder, for other strategies of dates, data or names; keep the sorted keys.
    ///   - decoder: makes the decoder that reads it.
    public static func json(
        encoder: @escaping @Sendable () -> JSONEncoder = defaultEncoder,
        decoder: @escaping @Sendable () -> JSONDecoder = defaultDecoder
    ) -> ValueCodec {
        ValueCodec(
            encode: { try Content(json: Array(encoder().encode($0))) },
            decode: { content in
                guard content.isJSON else { throw WireError.unexpectedJSON("it is \(content.type), not \(Content.json)") }
                return try decoder().decode(Value.self, from: Data(content.bytes))
            })
    }

    /// Makes the encoder that ``json(encoder:decoder:)`` uses unless it is given another one.
    public static var defaultEncoder: @Sendable () -> JSONEncoder { { .freshet } }
    /// Makes the decoder that ``json(encoder:decoder:)`` uses unless it is given another one.
    public static var defaultDecoder: @Sendable () -> JSONDecoder { { .freshet } }
}

extension ValueCodec where Value == Content {
    /// The bytes as they are, with their media type.
    public static let raw = ValueCodec(encode: { $0 }, decode: { $0 })
}
