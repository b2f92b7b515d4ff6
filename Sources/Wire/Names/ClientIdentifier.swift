/// Names one device in one namespace; its writes are numbered 1, 2, 3 … for ever. `[A-Za-z0-9._-]{1,64}`.
package struct ClientIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as it is on the wire.
    package let text: String

    /// - Throws: ``WireError/invalidClient(_:)``.
    package init(_ text: String) throws(WireError) {
        guard NameRule.isToken(text) else { throw .invalidClient(text) }
        self.text = text
    }

    /// The identifier itself.
    package var description: String { text }
}
