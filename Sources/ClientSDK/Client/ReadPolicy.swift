/// Where an asynchronous read may look, and in which order.
///
/// A client that follows everything and has caught up once knows which records there are not: where the cache may answer, it says so without
/// the network, as of the position that it has stored.
///
/// A read that needs the network waits for at most ``SyncClient/Configuration/readTimeout``. A client that is offline does
/// not wait: the read has the client try again, and fails at once.
public enum ReadPolicy: Hashable, Sendable {
    /// Memory, then disk; never the network. What is not there is absent.
    case cacheOnly
    /// Memory, then disk, then the network. The default.
    case cacheElseNetwork
    /// The network always, by a request sent after the call; what it gives is stored. Without a connection it fails, whatever is cached.
    case networkOnly
    /// The network; if it cannot be reached in time, what is cached.
    case networkElseCache
}
