/// A verified client certificate in place of a key or token, as the table of sessions keeps it.
///
/// It is no secret, and none can send it: its text has spaces, and a bearer token has none (RFC 6750 §2.1).
package struct CertificateCredential: Hashable, Sendable {
    /// The index of the listener that has verified it, whose role it has.
    package let listener: Int
    package let name: String
    /// Milliseconds since 1970.
    package let validFrom: Int64
    package let validUntil: Int64
    /// Stands for the authority that has signed it.
    package let authority: String

    /// - Parameters:
    ///   - name: 1 to 128 visible characters of ASCII without `|`.
    ///   - authority: as visible.
    package init(listener: Int, name: String, validFrom: Int64, validUntil: Int64, authority: String) {
        (self.listener, self.name, self.validFrom, self.validUntil, self.authority) = (listener, name, validFrom, validUntil, authority)
    }

    private static let start = Array("certificate ".utf8)

    package var bytes: [UInt8] { Self.start + Array("\(listener) \(validFrom) \(validUntil) \(authority) \(name)".utf8) }

    /// `nil` for any other credential. O(1) for those.
    package init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.start) else { return nil }
        let parts = String(decoding: bytes.dropFirst(Self.start.count), as: UTF8.self).split(separator: " ")
        guard parts.count == 5, let listener = Int(parts[0]), let from = Int64(parts[1]), let until = Int64(parts[2]) else { return nil }
        self.init(listener: listener, name: String(parts[4]), validFrom: from, validUntil: until, authority: String(parts[3]))
    }
}

/// Why a client certificate opens no session.
package enum CertificateRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The listener gives certificates no rights any more.
    case noRole
    /// The listener has another authority by now.
    case otherAuthority
    case notYetValid
    /// The name does not fit the role's placeholders, or has become too long with them.
    case invalidRights

    package var description: String {
        switch self {
        case .noRole: "the listener gives certificates no rights: send a key or token, or ask the operator"
        case .otherAuthority:
            "the server has another authority of client certificates now, which has not signed this one: connect again, with one that it has signed"
        case .notYetValid: "the certificate is not valid yet: compare the clocks of client and server"
        case .invalidRights:
            "the certificate's name does not fit the role of its listener: in place of {sub} it takes 1 to 128 bytes without * and /, "
                + "which fit the names of namespaces and records in which the role has it"
        }
    }
}
