internal import Dispatch
internal import FreshetSQLite
internal import FreshetWire
internal import Synchronization

/// Point reads of entries outside of the engine's queue, through a separate connection and a separate queue, so that a
/// read does not wait for a write that waits for the disk.
///
/// Never returns a wrong entry, but may return none: then the engine reads it.
final class DiskReader: Sendable {
    private struct State {
        /// `nil` in memory, before the start and after the stop.
        var connection: Connection?
        /// Closed from the decision to clear until the disk has done it.
        var isOpen = true
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "freshet.reader")

    /// - Parameter path: the existing file; `nil` for none.
    func open(_ path: String?) throws(SQLiteError) {
        guard let path else { return }
        // Created under the lock, so that no other owner can have it.
        try state.withLock { state throws(SQLiteError) in
            state.connection = try Connection(path: path, mode: .readOnly)
            state.isOpen = true
        }
    }

    func close() { state.withLock { $0.connection = nil } }

    /// Stops returning entries until ``resume()``. A read in progress has ended when this returns.
    func suspend() { state.withLock { $0.isOpen = false } }

    func resume() { state.withLock { $0.isOpen = true } }

    /// Returns the row of the key; `nil` if there is none, or the reader is closed or failed.
    func entry(_ key: RecordKey) async -> Entry? {
        await withCheckedContinuation { continuation in
            queue.async { @Sendable [self] in
                // The engine meets a failure again and handles it.
                let entry = state.withLock { state -> Entry? in
                    guard state.isOpen, let connection = state.connection else { return nil }
                    return try? DiskTier.entry(key, connection)
                }
                continuation.resume(returning: entry)
            }
        }
    }
}
