/// Where a server listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The numeric address: `127.0.0.1`, `::1`.
    public let host: String
    /// The port, the one picked where 0 was asked for.
    public let port: Int
    /// Whether `host` is an IPv6 address.
    let isVersion6: Bool

    /// The root URL: `http://127.0.0.1:8180`, `http://[::1]:8180`.
    public var description: String {
        isVersion6 ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
    }
}
