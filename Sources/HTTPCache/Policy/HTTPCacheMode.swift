/// How a request uses stored responses.
///
/// The modes are the four of `URLRequest.CachePolicy` that have an effect: `useProtocolCachePolicy`,
/// `returnCacheDataElseLoad`, `returnCacheDataDontLoad` and `reloadIgnoringLocalCacheData`.
public enum HTTPCacheMode: Hashable, Sendable, CaseIterable {
    /// Follows the fields of the response and the request (RFC 9111).
    case standard
    /// Returns the stored response at any age; loads from the network only if there is none.
    case cacheElseLoad
    /// Returns the stored response at any age, and never uses the network.
    case cacheOnly
    /// Loads from the network, and stores the response. A failure is not answered from the cache.
    case reload
}
