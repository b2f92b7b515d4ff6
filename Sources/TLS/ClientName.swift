internal import CFreshetTLS
internal import FreshetSocketHTTP

/// The names that a certificate states in its `subjectAltName` (RFC 5280 §4.2.1.6).
///
/// A certificate has one name for its client: its only URI, as SPIFFE names workloads; without a URI its only mail address;
/// without both its only DNS name. Several of the kind that decides are no name, so that nobody has to guess which one
/// stands for the client. The texts of the kinds differ: only URIs have a `:`, only mail addresses of the others an `@`.
enum ClientName {
    private enum Kind: CaseIterable {
        case uri, mail, dns

        var code: Int32 {
            switch self {
            case .uri: GEN_URI
            case .mail: GEN_EMAIL
            case .dns: GEN_DNS
            }
        }

        func isRight(_ name: String) -> Bool {
            let (hasColon, hasAt) = (name.utf8.contains(UInt8(ascii: ":")), name.utf8.contains(UInt8(ascii: "@")))
            return switch self {
            case .uri: hasColon
            case .mail: hasAt && !hasColon
            case .dns: !hasAt && !hasColon
            }
        }
    }

    /// The name of a certificate's client; `nil` if it has none that is unambiguous.
    static func of(_ certificate: OpaquePointer) -> String? {
        let names = freshet_names(certificate)
        defer { freshet_free_names(names) }
        for kind in Kind.allCases {
            var found: [[UInt8]] = []
            for index in 0..<freshet_name_count(names) {
                var (bytes, count): (UnsafePointer<UInt8>?, Int32) = (nil, 0)
                guard freshet_name(names, index, kind.code, &bytes, &count) == 1 else { continue }
                found.append(Array(UnsafeBufferPointer(start: bytes, count: Int(count))))
                // Any number of them may follow.
                if found.count > 1 { return nil }
            }
            guard let name = found.first else { continue }
            // Not UTF-8 becomes a character that no name has.
            let text = String(decoding: name, as: UTF8.self)
            return kind.isRight(text) ? ClientCertificate.canonicalName(text) : nil
        }
        return nil
    }
}

extension ClientCertificate {
    /// - Parameter certificate: verified.
    init(_ certificate: OpaquePointer, signedBy authority: String) {
        let (start, end) = (X509_get0_notBefore(certificate), X509_get0_notAfter(certificate))
        // A verified certificate has both times. One without an end would be over at once.
        self.init(
            name: ClientName.of(certificate), validFrom: (Certificate.seconds(start) ?? 0) * 1_000,
            validUntil: (Certificate.seconds(end) ?? 0) * 1_000, authority: authority)
    }
}
