/// A random token that names one history of a namespace: `[a-z0-9]{1,32}`.
///
/// A dropped, recreated or restored namespace gets a new one, never an old one again.
public struct Epoch: Hashable, Sendable, CustomStringConvertible {
    /// The token as it is on the wire.
    public let token: String

    /// `nil` unless the token is 1 to 32 lower-case letters and digits.
    public init?(_ token: String) {
        guard (1...32).contains(token.utf8.count), token.utf8.allSatisfy(NameRule.isLowercaseAlphanumeric) else { return nil }
        self.token = token
    }

    /// A token of 13 characters made of 64 bits, in base 32.
    package init(bits: UInt64) {
        let text = String(bits, radix: 32)
        token = String(repeating: "0", count: 13 - text.count) + text
    }

    /// The token itself.
    public var description: String { token }
}
