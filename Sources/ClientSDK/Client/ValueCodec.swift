public import FoundationEssentials
public import FreshetWire

/// Converts the values of a collection to bytes and back.
public struct ValueCodec<Value: Sendable>: Sendable {
    /// Converts a value to bytes. A thrown error becomes ``ClientError/notEncodable(_:)``, and so does a result that a
    /// server does not store: bytes of the type `application/json` that are not JSON (RFC 7493, at most 256 levels), or a
    /// media type that is not 1 to 255 characters of visible ASCII and spaces.
    public let encode: @Sendable (Value) throws -> Content
    /// Converts bytes to a value. A thrown error becomes ``ClientError/notDecodable(key:_:)``.
    public let decode: @Sendable (Content) throws -> Value
    /// Shared by the codecs that decode alike.
    let identity: CodecIdentity

    /// Creates a custom codec. The same value must always give the same bytes.
    ///
    /// Make it once, and open the collection with it again: a decoded value is cached for the codec that decoded it first.
    public init(encode: @escaping @Sendable (Value) throws -> Content, decode: @escaping @Sendable (Content) throws -> Value) {
        self.init(encode: encode, decode: decode, identity: CodecIdentity())
    }

    private init(
        encode: @escaping @Sendable (Value) throws -> Content, decode: @escaping @Sendable (Content) throws -> Value,
        identity: CodecIdentity
    ) {
        self.encode = encode
        self.decode = decode
        self.identity = identity
    }
}

extension ValueCodec {
    /// Encodes a value, and checks the result.
    ///
    /// Each content that an app gives passes through here before it is stored: a row of the outbox with another content
    /// could not be read again.
    ///
    /// - Throws: ``ClientError/notEncodable(_:)``.
    package func content(of value: Value) throws(ClientError) -> Content {
        let content: Content
        do {
            content = try encode(value)
        } catch {
            throw .notEncodable("\(error)")
        }
        do {
            try content.check()
        } catch {
            throw .notEncodable(content.isJSON ? "it is not JSON that can be stored: \(error)" : "\(error)")
        }
        return content
    }
}

/// Distinguishes codecs of the same type, whose decoded values may differ.
final class CodecIdentity: Sendable {
    /// Of all codecs of ``ValueCodec/json()``.
    static let json = CodecIdentity()
}

extension ValueCodec where Value: Codable {
    /// ``json(encoder:decoder:)`` with the default encoder and decoder. All codecs of this function share their decoded values.
    public static func json() -> ValueCodec {
        let codec = json(encoder: defaultEncoder, decoder: defaultDecoder)
        return ValueCodec(encode: codec.encode, decode: codec.decode, identity: .json)
    }

    /// JSON with sorted member names, so that equal values are equal bytes.
    ///
    /// A `Date` is a text as of RFC 3339, a profile of ISO 8601: in UTC, with no digits after the second if it has no
    /// fraction, otherwise with the fewest of 3, 6 and 9 that give the same `Date` again, such as
    /// `2026-11-21T15:34:05.250Z`. Years are 0 to 9999; other dates do not encode. Decoding accepts any number of
    /// digits and any offset, and so the default formats of other languages: `Date.prototype.toISOString` in
    /// JavaScript, `datetime.isoformat` with a time zone in Python, `time.RFC3339Nano` in Go, `Instant.toString` in
    /// Java. These languages can read the text too; some keep no more than three or six digits of the fraction.
    ///
    /// Decoding also accepts a number, as the seconds since 2001 that earlier versions wrote, so their records need no
    /// conversion; the next write of a record stores a text. Programs of those earlier versions cannot read the text.
    ///
    /// - Parameters:
    ///   - encoder: makes the encoder, for other strategies of dates, data or names; keep the sorted keys.
    ///   - decoder: makes the decoder for its output.
    public static func json(
        encoder: @escaping @Sendable () -> JSONEncoder = defaultEncoder,
        decoder: @escaping @Sendable () -> JSONDecoder = defaultDecoder
    ) -> ValueCodec {
        ValueCodec(
            // `content(of:)` checks it.
            encode: { Content(checkedJSON: Array(try encoder().encode($0))) },
            decode: { content in
                guard content.isJSON else { throw WireError.unexpectedJSON("it is \(content.type), not \(Content.json)") }
                return try decoder().decode(Value.self, from: Data(content.bytes))
            })
    }

    /// Makes the default encoder of ``json(encoder:decoder:)``.
    public static var defaultEncoder: @Sendable () -> JSONEncoder { { .freshet } }
    /// Makes the default decoder of ``json(encoder:decoder:)``.
    public static var defaultDecoder: @Sendable () -> JSONDecoder { { .freshet } }
}

extension ValueCodec where Value == Content {
    /// The unchanged bytes, with their media type.
    public static let raw = ValueCodec(encode: { $0 }, decode: { $0 })
}
