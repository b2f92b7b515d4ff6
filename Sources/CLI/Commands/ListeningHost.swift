import Glibc

/// Whom an address to listen on lets in.
enum ListeningHost {
    /// Whether only this machine reaches it: `127.0.0.0/8`, `::1` or `localhost`. Other names may stand for any address, so they do not count.
    static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        var version4 = in_addr()
        // The address is in network order: its first byte in memory is the first that is written.
        if inet_pton(AF_INET, host, &version4) == 1 { return withUnsafeBytes(of: version4) { $0[0] == 127 } }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, host, &version6) == 1 else { return false }
        return withUnsafeBytes(of: version6) { $0.last == 1 && $0.dropLast().allSatisfy { $0 == 0 } }
    }
}
