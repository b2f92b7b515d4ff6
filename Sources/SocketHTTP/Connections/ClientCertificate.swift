/// The certificate of a client that its listener's authority has signed, as the handshake has verified it.
package struct ClientCertificate: Hashable, Sendable {
    /// The name that stands for the client; `nil` if the certificate has none, or several of one kind.
    package let name: String?
    /// The time between which it is valid, in milliseconds since 1970.
    package let validFrom: Int64
    package let validUntil: Int64

    package init(name: String?, validFrom: Int64, validUntil: Int64) {
        (self.name, self.validFrom, self.validUntil) = (name, validFrom, validUntil)
    }
}
