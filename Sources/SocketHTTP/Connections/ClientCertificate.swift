/// The certificate of a client that its listener's authority has signed.
package struct ClientCertificate: Hashable, Sendable {
    /// The name that stands for the client, as ``canonicalName(_:)`` writes it; `nil` if the certificate has none, or several of
    /// one kind.
    package let name: String?
    /// The times between which it is valid, in milliseconds since 1970.
    package let validFrom: Int64
    package let validUntil: Int64
    /// Stands for the authority that has signed it, among all that the server has had.
    package let authority: String

    package init(name: String?, validFrom: Int64, validUntil: Int64, authority: String) {
        (self.name, self.validFrom, self.validUntil, self.authority) = (name, validFrom, validUntil, authority)
    }

    /// A name in the form in which it is compared: a DNS name, which has no `:` and no `@`, in small letters.
    ///
    /// - Returns: `nil` unless it has 1 to 128 visible characters of ASCII without `|` and `*`, as many as the `sub` of a token.
    package static func canonicalName(_ text: String) -> String? {
        let bytes = text.utf8
        guard (1...128).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"|*".utf8.contains($0) }) else {
            return nil
        }
        return bytes.contains(where: ":@".utf8.contains) ? text : text.lowercased()
    }
}
