import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

/// Keeps web pages of other origins from using a server through the browser of a user who can reach it.
///
/// A page whose name is made to resolve to this server's address (DNS rebinding) could read all records. So a request
/// must name the server by a configured name, an IP literal or localhost. A page of any origin can also send requests
/// without seeing their answers. So a request that changes something must not state another origin (Fetch, "`Origin`
/// header"; Fetch Metadata, `Sec-Fetch-Site`).
///
/// Clients other than browsers send neither `Origin` nor `Sec-Fetch-Site`. A client that sends no `Host`, which
/// HTTP/1.0 allows, is no browser.
struct AccessRules: Sendable {
    private let names: [[UInt8]]
    private let allowsAnyName: Bool
    private let origins: Set<String>

    /// - Parameters:
    ///   - names: names of the server in addition to IP literals and localhost, without ports; `*` allows all.
    ///   - origins: the origins of pages that may change records, as browsers send them, for example
    ///     `https://app.example`.
    init(names: [String] = [], origins: [String] = []) {
        self.names = names.map { Array($0.lowercased().utf8) }
        allowsAnyName = names.contains("*")
        self.origins = Set(origins.map { $0.lowercased() })
    }

    /// Throws `misdirected-request` or `forbidden`. O(size of the head); allocates only for a request that is refused
    /// or has an `Origin`.
    func check(_ request: Request) throws(Problem) {
        if !allowsAnyName { try checkHost(request) }
        switch request.method {
        case .get, .head, .options: return
        default: try checkOrigin(request)
        }
    }

    // MARK: Host

    private func checkHost(_ request: Request) throws(Problem) {
        var refused: String?
        request.forEachAuthority { authority in
            if !allows(host: authority) { refused = authority.shortText }
        }
        guard let refused else { return }
        throw Problem(
            .misdirectedRequest,
            "'\(refused)' is no name of this server: use its IP address or localhost, or start it with --host-name and that name, without a port"
        )
    }

    private func allows(host authority: Span<UInt8>) -> Bool {
        let end = authority.endOfHost
        if authority.isAddress(end) { return true }
        return authority.isLocalhost(end) || names.contains { authority.equalsIgnoringCase($0, end) }
    }

    // MARK: Origin

    private func checkOrigin(_ request: Request) throws(Problem) {
        guard let origin = request[.origin] else {
            guard !request.hasOnly("cross-site", for: .secFetchSite) else { throw Self.crossOrigin("a page of another site", "its origin") }
            return
        }
        let text = origin.lowercased()
        guard !origins.contains(text) else { return }
        guard text != "null" else {
            throw Problem(
                .forbidden,
                "The request comes from a page without an origin, such as a file or a sandboxed frame, which --allow-origin cannot name: serve the "
                    + "page over http or https")
        }
        var isOwn = false
        for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
            let authority = Array(text.utf8.dropFirst(scheme.utf8.count))
            request.forEachAuthority { isOwn = isOwn || $0.equalsIgnoringCase(authority, $0.count) }
        }
        guard isOwn else { throw Self.crossOrigin("'\(origin.shortened)'", origin.shortened) }
    }

    private static func crossOrigin(_ page: String, _ origin: String) -> Problem {
        Problem(
            .forbidden,
            "The request comes from \(page), and not from the server's own origin: start the server with --allow-origin \(origin) if that page may "
                + "change records")
    }
}

extension Span<UInt8> {
    /// The end of an authority's host: before its port, and before the dot of a fully qualified name.
    fileprivate var endOfHost: Int {
        var end = count
        while end > 0, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[end - 1]) { end -= 1 }
        end = end > 0 && self[end - 1] == UInt8(ascii: ":") ? end - 1 : count
        return end > 0 && self[end - 1] == UInt8(ascii: ".") ? end - 1 : end
    }

    /// Whether the host is an IPv6 literal, or of digits and dots alone, which every browser takes for an IPv4 address
    /// and never looks up.
    fileprivate func isAddress(_ end: Int) -> Bool {
        guard end > 0 else { return false }
        if self[0] == UInt8(ascii: "[") { return self[end - 1] == UInt8(ascii: "]") }
        for place in 0..<end where self[place] != UInt8(ascii: ".") && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[place]) {
            return false
        }
        return true
    }

    /// Whether the host is localhost or a name below it, which no resolver looks up elsewhere (RFC 6761 §6.3).
    fileprivate func isLocalhost(_ end: Int) -> Bool {
        let name: StaticString = "localhost"
        let start = end - name.utf8CodeUnitCount
        guard start == 0 || start > 0 && self[start - 1] == UInt8(ascii: ".") else { return false }
        return name.withUTF8Buffer { expected in
            for place in start..<end where self[place] | 0x20 != expected[place - start] { return false }
            return true
        }
    }

    /// - Parameter lowercase: in lower case.
    fileprivate func equalsIgnoringCase(_ lowercase: [UInt8], _ end: Int) -> Bool {
        guard lowercase.count == end else { return false }
        for place in 0..<end {
            let byte = self[place]
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            if (isUpper ? byte | 0x20 : byte) != lowercase[place] { return false }
        }
        return true
    }

    fileprivate var shortText: String {
        withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }.shortened
    }
}
