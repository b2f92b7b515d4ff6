/// Where an asynchronous read may look, and in which order.
public enum ReadPolicy: Hashable, Sendable {
    /// Memory, then disk; never the network. What is not there is absent.
    case cacheOnly
    /// Memory, then disk, then the network. The default.
    case cacheElseNetwork
    /// The network always, by a request sent after the call; what it gives is stored. Without a connection it fails, whatever is cached.
    case networkOnly
    /// The network; if it cannot be reached, what is cached.
    case networkElseCache
}
