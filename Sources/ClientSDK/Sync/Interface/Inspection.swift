import FreshetWire

/// A read-only view of the contents of a ``SyncMachine``, for tests and tools.
package struct Inspection: Sendable {
    package var state: SyncState
    /// The keys of the outbox.
    var outbox: [RecordKey: PendingKey]
    /// The numbers that wait for their verdicts, in order.
    package var waitingNumbers: [Int64]
    /// How many keys have writes that are not on disk yet.
    package var unstoredKeys: Int
    /// How many requests of reads are under way.
    package var readsInFlight: Int
    /// How many requests were ever sent.
    package var requestsSent: Int64
    package var isResetting: Bool
    package var isClearing: Bool
    /// As in a ``RequestID``: a reply or answer of an earlier generation has no effect.
    package var generation: Int64
}
