public import FreshetWire

/// How far a value can be relied on.
public enum SnapshotFreshness: Hashable, Sendable {
    /// Followed live: the server's newest value, except for the delay of notifications.
    case live
    /// Right at this time of this device's wall clock; it may have changed since.
    case confirmed(at: Timestamp)
    /// Kept over a reset of the feed, an invalidation or a change that came without its value, and not read again since.
    case unverified(since: Timestamp)
}
