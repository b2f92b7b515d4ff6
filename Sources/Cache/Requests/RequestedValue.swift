public import FoundationEssentials

/// The value of a request.
public struct RequestedValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The source of the value.
    public let source: CacheSource
    /// When the value was fetched.
    public let storedAt: Date
    /// When the lifetime is over; nil for never.
    public let expiresAt: Date?

    init(_ item: TieredValue<Value>, _ source: CacheSource) {
        value = item.value
        self.source = source
        storedAt = item.storedAt
        expiresAt = item.expiresAt
    }
}
