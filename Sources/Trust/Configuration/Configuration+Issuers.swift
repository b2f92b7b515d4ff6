internal import FreshetWire

extension Configuration.IssuerEntry {
    private static let advice = #"an issuer takes {"issuer": NAME, "audience": NAME, "keys": {"url": URL}}"#

    init(_ reader: inout StrictReader) throws(TrustError) {
        var name: String?
        var audience: String?
        var longest: Int64 = 86_400_000
        var requiresTokenID = false
        var keys: (source: Configuration.KeySource, algorithms: Set<SignatureAlgorithm>)?
        try reader.object("issuer, audience, longest, requireTokenID and keys") { member, reader throws(TrustError) in
            switch member {
            case "issuer": name = try Self.name(&reader)
            case "audience": audience = try Self.name(&reader)
            // A revocation is kept for as long, and its row is in memory.
            case "longest": longest = try reader.duration(1_000...2_592_000_000)
            case "requireTokenID": requiresTokenID = try reader.boolean()
            case "keys": keys = try Self.keys(&reader)
            default: return false
            }
            return true
        }
        guard let name, let audience, let keys else { throw reader.fail(Self.advice) }
        issuer = Issuer(
            name: name, audience: audience, longest: longest / 1_000, algorithms: keys.algorithms, requiresTokenID: requiresTokenID)
        self.keys = keys.source
    }

    /// A principal is `<issuer>|<subject>`, and a line of the audit log.
    private static func name(_ reader: inout StrictReader) throws(TrustError) -> String {
        let name = try reader.text()
        guard name.utf8.count <= 256, !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "|") }) else {
            throw reader.fail("it takes 1 to 256 bytes without | and control characters")
        }
        return name
    }

    private static func keys(
        _ reader: inout StrictReader
    ) throws(TrustError) -> (source: Configuration.KeySource, algorithms: Set<SignatureAlgorithm>) {
        var sources: [Configuration.KeySource] = []
        var chosen: Set<SignatureAlgorithm>?
        try reader.object("url, file or secret, and algorithms") { member, reader throws(TrustError) in
            switch member {
            case "url":
                let url = try reader.text()
                guard isKeyURL(url) else {
                    throw reader.fail(
                        "'\(url.shortened)' is no URL of keys: it takes https://, or http:// with localhost, 127.0.0.1 or [::1]")
                }
                sources.append(.url(url))
            case "file": sources.append(.file(try reader.path()))
            case "secret": sources.append(.secret(try reader.path()))
            case "algorithms":
                var algorithms: Set<SignatureAlgorithm> = []
                try reader.array(atMost: SignatureAlgorithm.allCases.count, "algorithms") { reader throws(TrustError) in
                    let text = try reader.string()
                    guard let algorithm = SignatureAlgorithm(rawValue: text) else {
                        throw reader.fail("'\(text.shortened)' is no algorithm: it takes \(SignatureAlgorithm.list)")
                    }
                    algorithms.insert(algorithm)
                }
                guard !algorithms.isEmpty else { throw reader.fail("there are no algorithms: add one, or leave the member out") }
                chosen = algorithms
            default: return false
            }
            return true
        }
        guard sources.count == 1, let source = sources.first else { throw reader.fail("'keys' takes one of url, file and secret") }
        let possible: Set<SignatureAlgorithm> =
            switch source {
            case .url: [.edDSA, .es256, .rs256]
            case .file: Set(SignatureAlgorithm.allCases)
            case .secret: [.hs256]
            }
        guard (chosen ?? possible).isSubset(of: possible) else {
            throw reader.fail("these keys can only have \(possible.map(\.rawValue).sorted().joined(separator: ", ")): correct 'algorithms'")
        }
        return (source, chosen ?? possible)
    }

    /// Keys that an attacker on the network can replace would open everything.
    private static func isKeyURL(_ url: String) -> Bool {
        let isVisible = url.utf8.count <= 2_048 && url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        let rest = { (scheme: String) in url.utf8.starts(with: scheme.utf8) ? url.utf8.dropFirst(scheme.utf8.count) : nil }
        let end: (UInt8?) -> Bool = { $0 == nil || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "?") }
        if let rest = rest("https://") {
            let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            return isVisible && !authority.isEmpty && authority.first != UInt8(ascii: ":") && !authority.contains(UInt8(ascii: "@"))
        }
        return isVisible
            && ["http://localhost", "http://127.0.0.1", "http://[::1]"].contains { host in
                rest(host).map { end($0.first) && !$0.contains(UInt8(ascii: "@")) } ?? false
            }
    }
}
