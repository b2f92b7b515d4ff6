import FreshetWire

/// Where the feeds of a server get what they lack: the server's store and its read queue.
struct FeedSource: Sendable {
    /// Whether other servers write to the store.
    var isShared = false
    /// The position of a namespace in the store.
    var position: @Sendable (Namespace) throws(StoreError) -> Cursor
    /// The positions of namespaces in the store, in their order.
    var positions: @Sendable ([Namespace]) throws(StoreError) -> [Cursor]
    /// Reads the changes after a position; `nil` if the store fails, which has been logged. May block on the disk.
    var read: @Sendable (Cursor, Namespace) -> FeedRead?
    /// Runs work that may block on the disk: not on the caller's thread, and never refused.
    var later: @Sendable (@escaping @Sendable () -> Void) -> Void
}
