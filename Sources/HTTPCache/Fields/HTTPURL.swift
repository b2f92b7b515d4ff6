package import HTTPTypes

/// An absolute `http` or `https` URL, without fragment, normalised as the key of stored responses.
///
/// Scheme and host are in lower case, a default port is omitted, an empty path is `/`. Path and query keep their
/// spelling, so that the requested bytes are sent.
package struct HTTPURL: Hashable, Sendable {
    package let scheme: String
    /// The host in lower case, with the port unless it is the scheme's default.
    package let authority: String
    /// The path and query, from the first `/` on.
    package let target: String

    /// - Returns: `nil` unless it is an absolute HTTP URL of visible ASCII without a user name.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let colon = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: colon)...].prefix { $0 != "#" }
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        self.init(scheme: text[..<colon], authority: authority, target: rest.dropFirst(2)[authority.endIndex...])
    }

    /// The URL of a request; `nil` in the same cases as for a text.
    package init?(_ request: HTTPRequest) {
        guard let scheme = request.scheme, let authority = request.authority, let path = request.path else { return nil }
        guard "\(scheme)\(authority)\(path)".utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.init(scheme: scheme[...], authority: authority[...], target: path.prefix { $0 != "#" })
    }

    private init?(scheme: Substring, authority: Substring, target: Substring) {
        let scheme = scheme.lowercased()
        guard scheme == "http" || scheme == "https", !authority.contains(where: { "/?#@\\".contains($0) }) else { return nil }
        let host: Substring
        var port = ""
        // The colons of an IPv6 address are in brackets.
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            host = authority[..<colon]
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.isEmpty || Int(digits).map({ $0 <= 65_535 }) == true
            else { return nil }
            port = Int(digits).map(String.init) ?? ""
        } else {
            host = authority
        }
        guard !host.isEmpty else { return nil }
        self.scheme = scheme
        self.authority = host.lowercased() + (port.isEmpty || port == (scheme == "http" ? "80" : "443") ? "" : ":\(port)")
        self.target = target.hasPrefix("/") ? String(target) : "/\(target)"
    }

    /// Whether the other has the same scheme, host and port.
    package func isSameOrigin(as other: HTTPURL) -> Bool { scheme == other.scheme && authority == other.authority }
}

extension HTTPURL: CustomStringConvertible {
    package var description: String { "\(scheme)://\(authority)\(target)" }
}

extension HTTPURL {
    /// Resolves a reference in a field of a response to this URL: `../other`, `/other`, `//host/`, `?query`, an
    /// absolute URL (RFC 3986 §5).
    ///
    /// Bytes that are not visible ASCII, which servers do send, are percent-encoded.
    ///
    /// - Returns: `nil` if the result is not an HTTP URL.
    package func resolving(_ reference: String) -> HTTPURL? {
        let encoded = reference.utf8.reduce(into: "") { text, byte in
            if (0x21...0x7E).contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        let text = encoded.prefix { $0 != "#" }
        if let colon = text.firstIndex(of: ":"), !text[..<colon].contains(where: { "/?".contains($0) }) {
            return HTTPURL(String(text))?.withoutDots
        }
        if text.hasPrefix("//") { return HTTPURL("\(scheme):\(text)")?.withoutDots }
        if text.isEmpty { return self }
        let path = target.prefix { $0 != "?" }
        let merged =
            if text.hasPrefix("/") { text } else if text.hasPrefix("?") { path + text } else {
                path[...(path.lastIndex(of: "/") ?? path.startIndex)] + text
            }
        return HTTPURL("\(scheme)://\(authority)\(merged)")?.withoutDots
    }

    private var withoutDots: HTTPURL? {
        let path = target.prefix { $0 != "?" }
        var segments: [Substring] = []
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".": if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return HTTPURL("\(scheme)://\(authority)/\(segments.joined(separator: "/"))\(target[path.endIndex...])")
    }
}
