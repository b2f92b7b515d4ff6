public import FoundationEssentials

/// Which of what is kept and what is fetched a request gets.
public enum RequestPolicy: String, Hashable, Sendable, CaseIterable {
    /// What is kept, or ``RequestError/notCached(_:)``; nothing is fetched.
    case cacheOnly
    /// What is fetched, which is then kept; what was kept before is not looked at.
    case networkOnly
    /// What is kept, or else what is fetched.
    case cacheElseNetwork
    /// What is kept, at once, and then what is fetched.
    case cacheThenNetwork
}

/// Why a request got nothing.
public enum RequestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing is kept for it: ask with another policy.
    case notCached(RequestKey)

    /// A line for people, with what to do.
    public var description: String {
        switch self {
        case .notCached(let key): "nothing is kept for \(key): ask with another policy"
        }
    }
}

/// A value that a request got.
public struct RequestedValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// Where it came from.
    public let source: CacheSource
    /// When it was fetched.
    public let recorded: Date
    /// When its lifetime is over; nil for never.
    public let expires: Date?

    init(_ item: TieredValue<Value>, _ source: CacheSource) {
        value = item.value
        self.source = source
        recorded = item.recorded
        expires = item.expires
    }
}
