internal import FreshetPlatform
internal import FreshetWire

/// The holder of a credential, to which quotas, the audit log and the write ledger refer: `key:<id>` or `<iss>|<sub>`.
/// Compared by bytes, as names are.
package struct Principal: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(key: KeyIdentifier) { text = "key:\(key)" }

    /// An issuer has no `|` (the configuration refuses it), so that two pairs never have one text.
    package init(issuer: String, subject: String) { text = "\(issuer)|\(subject)" }

    /// The holder of a client certificate. The name has no `|`, which the text of each token's principal has.
    package init(certificateName name: String) { text = Self.certificateStart + name }

    /// What the text of a certificate's holder begins with, before the name.
    package static let certificateStart = "certificate:"

    /// The name of the certificate, if it is the holder of one.
    package var certificateName: String? {
        guard text.utf8.starts(with: Self.certificateStart.utf8), !text.utf8.contains(UInt8(ascii: "|")) else { return nil }
        return String(decoding: text.utf8.dropFirst(Self.certificateStart.utf8.count), as: UTF8.self)
    }

    /// A principal that was stored, or that a person names.
    package init(text: String) { self.text = text }

    /// The holder of no credential. No key and no token has this name.
    package static let anonymous = Principal(text: "anonymous")

    /// The holder of the admin socket. No key and no token has this name.
    package static let `operator` = Principal(text: "operator")

    package static func == (left: Principal, right: Principal) -> Bool { ByteIdentity.areEqual(left.text, right.text) }
    package func hash(into hasher: inout Hasher) { ByteIdentity.hash(text, into: &hasher) }

    package var description: String { text }
}
