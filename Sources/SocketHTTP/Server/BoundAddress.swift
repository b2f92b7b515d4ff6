/// Where a server listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The numeric address: `127.0.0.1`, `::1`; or the path of a Unix socket.
    public let host: String
    /// The port, the one picked where 0 was asked for; 0 for a Unix socket.
    public let port: Int
    /// Whether `host` is an IPv6 address.
    let isVersion6: Bool
    /// Whether connections are encrypted.
    var isEncrypted = false
    /// Whether `host` is the path of a Unix socket.
    package var isSocket = false

    /// The root URL: `http://127.0.0.1:8180`, `https://[::1]:8180`; or `unix:/run/freshet/admin.sock`.
    public var description: String {
        isSocket ? "unix:\(host)" : "\(isEncrypted ? "https" : "http")://\(isVersion6 ? "[\(host)]" : host):\(port)"
    }
}
