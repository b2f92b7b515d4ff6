internal import CFreshetCurl
internal import Glibc

/// The host of a URL, parsed by libcurl's parser, so that a check and the transfer never disagree.
package struct RequestTarget: Hashable, Sendable {
    /// The host as libcurl resolves it: percent-decoded, IPv4 addresses in dotted form, IPv6 addresses in brackets.
    package let host: String
    /// Whether the URL holds a user name or a password, which libcurl sends as `Authorization: Basic`.
    package let hasUser: Bool
    /// Whether requests go over TLS.
    package let isEncrypted: Bool

    /// - Returns: `nil` if libcurl would not send a request, or the URL is neither `http` nor `https`.
    package init?(_ url: String) {
        guard let parsed = curl_url() else { return nil }
        defer { curl_url_cleanup(parsed) }
        // The flags with which libcurl reads the URL of a transfer.
        let flags = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS)
        guard url.withCString({ curl_url_set(parsed, CURLUPART_URL, $0, flags) }) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, of: parsed)?.lowercased(), scheme == "http" || scheme == "https",
            let host = Self.part(CURLUPART_HOST, of: parsed)
        else { return nil }
        self.host = host
        isEncrypted = scheme == "https"
        hasUser = Self.part(CURLUPART_USER, of: parsed) != nil || Self.part(CURLUPART_PASSWORD, of: parsed) != nil
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// Splits a URL around its user and password.
    ///
    /// Ends them at the last `@`: a password that is not percent-encoded may contain each delimiter of a URL.
    ///
    /// - Returns: the scheme with `://`, if there is one; the user and password as they are written, `nil` without; the rest.
    static func split(_ url: String) -> (scheme: Substring, user: Substring?, rest: Substring) {
        let name = url.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let start = url[name.endIndex...].hasPrefix("://") ? url.index(name.endIndex, offsetBy: 3) : url.startIndex
        guard let end = url.utf8.lastIndex(of: UInt8(ascii: "@")), end >= start else { return (url[..<start], nil, url[start...]) }
        return (url[..<start], url[start..<end], url[url.utf8.index(after: end)...])
    }

    /// Returns the URL with `…` in place of its user and password, for errors and logs.
    package static func hidingUser(of url: String) -> String {
        let (scheme, user, rest) = split(url)
        return user == nil ? url : "\(scheme)…@\(rest)"
    }

    /// Returns the part of a server's URL before the segment `/v1`, with which the path of every request begins; `nil`
    /// without this segment.
    package static func root(of url: String) -> String? {
        let segments = url.split(separator: "/", omittingEmptySubsequences: false)
        // The first three are the scheme, nothing, and the host.
        guard segments.count > 3, let version = segments[3...].firstIndex(of: "v1") else { return nil }
        return segments[..<version].joined(separator: "/")
    }

    /// Whether requests cannot be read on a network: they are encrypted, or stay on this machine.
    package var isProtected: Bool { isEncrypted || isLoopback }

    /// Whether the host is in `127.0.0.0/8`, `[::1]`, `localhost` or a name below it; libcurl resolves those names
    /// itself, to loopback. An IPv6 address that contains an IPv4 one does not count, nor does a name that ends with a
    /// dot, which libcurl resolves through the system.
    var isLoopback: Bool {
        let name = host.lowercased()
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        return Self.isLoopback(address: name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name)
    }

    /// Whether a text is an address in `127.0.0.0/8`, or `::1`.
    package static func isLoopback(address: String) -> Bool {
        var version4 = in_addr()
        // The address is in network order: its first byte in memory is the first in the text.
        if inet_pton(AF_INET, address, &version4) == 1 { return withUnsafeBytes(of: version4) { $0[0] == 127 } }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, address, &version6) == 1 else { return false }
        return withUnsafeBytes(of: version6) { $0.last == 1 && $0.dropLast().allSatisfy { $0 == 0 } }
    }
}
