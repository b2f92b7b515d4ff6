internal import FreshetPlatform

/// A tag of cached values, by which they can be removed together.
///
/// ```swift
/// cache.setValue(price, forKey: "pear", tags: ["fruit", "shop/\(number)"])
/// cache.removeAll(taggedWith: "fruit")
/// ```
///
/// Two tags are the same when their bytes are, in memory as on disk: `é` in its two encodings is two tags.
public struct CacheTag: Hashable, Comparable, Sendable {
    private let name: ByteIdentity.Name

    /// Creates a tag with any text, also an empty one.
    public init(_ text: String) { name = ByteIdentity.Name(text: text) }

    /// The text of the tag, as it was given.
    public var text: String { name.text }

    var bytes: String.UTF8View { name.text.utf8 }

    /// Orders by the bytes.
    public static func < (left: CacheTag, right: CacheTag) -> Bool { left.name < right.name }
}

extension CacheTag: ExpressibleByStringInterpolation {
    /// Creates a tag from a literal.
    public init(stringLiteral text: String) { self.init(text) }
}

extension CacheTag: CustomStringConvertible {
    /// The text of the tag.
    public var description: String { text }
}

extension CacheTag: Codable {
    /// Decodes a text.
    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
