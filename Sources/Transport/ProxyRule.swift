internal import Glibc

/// Chooses the proxy of a request from the environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
///
/// libcurl could read these variables itself. Here one place decides, reports its decision, and sends requests to this
/// machine directly.
package struct ProxyRule: Hashable, Sendable {
    /// A proxy, and the variable that names it.
    package struct Proxy: Hashable, Sendable {
        /// The variable's value without the user and password, which libcurl would quote in its errors.
        let url: String
        /// The user and password as they are in the variable, which may be percent-encoded; `nil` without.
        let user: String?
        let variable: String
        /// For errors: without credentials.
        package let description: String

        fileprivate init(_ value: String, variable: String) {
            let (scheme, user, rest) = RequestTarget.split(value)
            url = "\(scheme)\(rest)"
            self.user = user.flatMap { $0.isEmpty ? nil : String($0) }
            self.variable = variable
            description = "the proxy \(scheme)\(rest.prefix { $0 != "/" }) of \(variable)"
        }
    }

    private let http: Proxy?
    private let https: Proxy?
    /// Lowercase names, addresses and networks that are reached directly.
    private let exceptions: [String]

    /// - Parameter variable: returns the value of an environment variable, if it is set.
    package init(_ variable: (String) -> String?) {
        func first(_ names: String...) -> Proxy? {
            for name in names {
                if let url = variable(name), !url.isEmpty { return Proxy(url, variable: name) }
            }
            return nil
        }
        let all = first("all_proxy", "ALL_PROXY")
        // Not HTTP_PROXY: a server that runs programs for its requests (CGI) sets that to a client's `Proxy` field.
        http = first("http_proxy") ?? all
        https = first("https_proxy", "HTTPS_PROXY") ?? all
        let list = variable("no_proxy") ?? variable("NO_PROXY") ?? ""
        exceptions = list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }

    /// The rule of this process's present environment.
    package static var environment: ProxyRule { ProxyRule { name in getenv(name).map { String(cString: $0) } } }

    /// Returns the proxy of a request to the URL; `nil` for a direct request, as every request to this machine is.
    /// O(1) if no proxy is set, otherwise O(exceptions).
    package func proxy(for url: String) -> Proxy? {
        guard http != nil || https != nil, let target = RequestTarget(url), !target.isLoopback,
            let proxy = target.isEncrypted ? https : http
        else { return nil }
        let name = target.host.lowercased()
        let host = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        return exceptions.contains { Self.matches(host, $0) } ? nil : proxy
    }

    /// Whether an element of `no_proxy` includes the host: `*`, the name, a parent domain with or without a leading
    /// dot, an address, or a network such as `10.0.0.0/8`.
    private static func matches(_ host: String, _ exception: String) -> Bool {
        if exception == "*" { return true }
        if let address = bytes(of: host) {
            let parts = exception.split(separator: "/", maxSplits: 1)
            guard let part = parts.first, let network = bytes(of: part.filter { $0 != "[" && $0 != "]" }), network.count == address.count
            else { return false }
            guard parts.count > 1 else { return network == address }
            guard let bits = Int(parts[1]), (0...address.count * 8).contains(bits) else { return false }
            return zip(network, address).enumerated().allSatisfy { index, pair in
                let mask = UInt8(truncatingIfNeeded: 0xFF00 >> min(8, max(0, bits - index * 8)))
                return pair.0 & mask == pair.1 & mask
            }
        }
        let name = exception.drop { $0 == "." }
        return !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
    }

    /// The bytes of an IP address; `nil` for a name.
    private static func bytes(of host: String) -> [UInt8]? {
        var version4 = in_addr()
        if inet_pton(AF_INET, host, &version4) == 1 { return withUnsafeBytes(of: version4) { Array($0) } }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, host, &version6) == 1 else { return nil }
        return withUnsafeBytes(of: version6) { Array($0) }
    }
}
