/// Whether a request heeds what is stored and how old that is.
///
/// These are the four of `URLRequest.CachePolicy` that have a meaning: `useProtocolCachePolicy`, `returnCacheDataElseLoad`,
/// `returnCacheDataDontLoad` and `reloadIgnoringLocalCacheData`.
public enum HTTPCacheMode: Hashable, Sendable, CaseIterable {
    /// As the response's and the request's fields say (RFC 9111).
    case standard
    /// What is stored, however old; the network only where nothing is.
    case cacheElseLoad
    /// What is stored, however old, and never the network.
    case cacheOnly
    /// The network, and what comes is stored.
    case reload
}
