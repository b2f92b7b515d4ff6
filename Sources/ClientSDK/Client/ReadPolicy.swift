/// The sources of an asynchronous read, and their order.
///
/// A client that follows everything and has caught up once knows which records do not exist. Policies that allow the
/// cache report these without the network, as of the stored position.
///
/// A read that needs the network waits for at most ``SyncClient/Configuration/readTimeout``. While the client is
/// offline the read does not wait: it causes another attempt to connect, and fails at once.
public enum ReadPolicy: Hashable, Sendable {
    /// Memory, then disk; never the network. A record that is in neither gives no value.
    case cacheOnly
    /// Memory, then disk, then the network. The default.
    case cacheElseNetwork
    /// Always the network, with a request sent after the call; the response is stored. Without a connection the read
    /// fails, even if a value is cached.
    case networkOnly
    /// The network; if the server cannot be reached in time, the cache.
    case networkElseCache
}
