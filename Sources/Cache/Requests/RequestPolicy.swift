/// How a request combines stored and fetched values.
public enum RequestPolicy: String, Hashable, Sendable, CaseIterable {
    /// Returns the stored value, or throws ``RequestError/notCached(_:)``. Fetches nothing.
    case cacheOnly
    /// Returns the fetched value and stores it. Ignores a stored value.
    case networkOnly
    /// Returns the stored value, or else the fetched one.
    case cacheElseNetwork
    /// Returns the stored value at once, and then the fetched one.
    case cacheThenNetwork
}
