import FreshetClient
import FreshetTransport

/// Which clients can reach an address that the server listens on.
enum ListeningHost {
    /// Whether only this machine reaches it: `127.0.0.0/8`, `::1` or `localhost`. Other names may stand for any address, so they do not count.
    static func isLoopback(_ host: String) -> Bool { host.lowercased() == "localhost" || RequestTarget.isLoopback(address: host) }
}
