public import FoundationEssentials

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

/// The error of a request without a value.
public enum RequestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No value is stored for the request: use another policy.
    case notCached(RequestKey)

    /// A line for people that says what to do.
    public var description: String {
        switch self {
        case .notCached(let key): "nothing is kept for \(key): ask with another policy"
        }
    }
}

/// The value of a request.
public struct RequestedValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The source of the value.
    public let source: CacheSource
    /// When the value was fetched.
    public let recorded: Date
    /// When the lifetime is over; nil for never.
    public let expires: Date?

    init(_ item: TieredValue<Value>, _ source: CacheSource) {
        value = item.value
        self.source = source
        recorded = item.recorded
        expires = item.expires
    }
}
