/// A record's value as bytes, with its media type.
public struct Content: Hashable, Sendable {
    /// The media type of values that the server checks, merges and increments.
    public static let json = "application/json"

    /// The value itself; well-formed JSON if ``isJSON``.
    public let bytes: [UInt8]
    /// The media type, for example `image/png`. JSON with parameters counts as ``json``.
    public let type: String

    /// Bytes of any kind. For JSON use ``init(json:)``, which checks it.
    public init(bytes: [UInt8], type: String) {
        self.bytes = bytes
        self.type = Self.isJSON(type) ? Self.json : type
    }

    /// JSON.
    /// - Throws: ``WireError/invalidJSON(offset:reason:)``.
    public init(json bytes: [UInt8]) throws(WireError) { try self.init(json: bytes, profile: .interoperable) }

    /// - Parameter profile: ``JSONReader/Profile/json`` for a value from a server, which may have been stored under
    ///   earlier rules.
    package init(json bytes: [UInt8], profile: JSONReader.Profile) throws(WireError) {
        try JSONReader.validate(bytes, profile: profile)
        self.init(bytes: bytes, type: Self.json)
    }

    /// JSON that is known to be well-formed.
    package init(checkedJSON bytes: [UInt8]) { self.init(bytes: bytes, type: Self.json) }

    /// Whether the value is JSON.
    public var isJSON: Bool { type == Self.json }

    /// Whether a media type is `application/json`, whatever its parameters.
    public static func isJSON(_ type: String) -> Bool {
        // Before a comparison of strings, which takes quadratic time for combining characters.
        guard type.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        if type == json { return true }
        let media = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return media.lowercased() == json
    }
}
