/// The source of a value.
public enum SnapshotSource: String, Hashable, Sendable {
    /// None: the record was never read, or was evicted. Read it to know the value.
    case unknown
    /// A change from the feed.
    case feed
    /// A read from the server.
    case fetch
    /// A write of this device: pending, or confirmed with a value that is known in full.
    case ownWrite
    /// The current record that came with a rejection.
    case rejection
}
