/// Where a server listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The numeric address: `127.0.0.1`, `::1`.
    public let host: String
    /// The port, the one picked where 0 was asked for.
    public let port: Int
    /// Whether `host` is an IPv6 address.
    let isVersion6: Bool
    /// Whether connections are encrypted.
    var isEncrypted = false

    /// The root URL: `http://127.0.0.1:8180`, `https://[::1]:8180`.
    public var description: String { "\(isEncrypted ? "https" : "http")://\(isVersion6 ? "[\(host)]" : host):\(port)" }
}
