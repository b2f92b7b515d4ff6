/// Names one device in one namespace; its writes are numbered 1, 2, 3 … for ever. `[A-Za-z0-9._-]{1,64}`.
public struct ClientIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as it is on the wire.
    public let text: String

    /// - Throws: ``WireError/invalidClient(_:)``.
    public init(_ text: String) throws(WireError) {
        guard NameRule.isToken(text) else { throw .invalidClient(text) }
        self.text = text
    }

    /// The identifier itself.
    public var description: String { text }
}
