internal import Dispatch
internal import FreshetWire
internal import SQLite
internal import Synchronization

/// Point reads of entries beside the engine's queue, through a connection and a queue of their own, so that a read does not wait for a
/// write that waits for the disk.
///
/// It never answers wrongly, but may have no answer: then the engine is asked.
final class DiskReader: Sendable {
    private struct State {
        /// `nil` in memory, before the start and after the stop.
        var connection: Connection?
        /// Closed from the moment that a clear is decided until the disk has done it.
        var isOpen = true
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "freshet.reader")

    /// - Parameter path: the file, which exists; `nil` for none.
    func open(_ path: String?) throws(SQLiteError) {
        guard let path else { return }
        // Made under the lock, so that no other owner can have it.
        try state.withLock { state throws(SQLiteError) in
            state.connection = try Connection(path: path, mode: .readOnly)
            state.isOpen = true
        }
    }

    func close() { state.withLock { $0.connection = nil } }

    /// Gives no answers until ``resume()``. A read that is under way has ended when this returns.
    func suspend() { state.withLock { $0.isOpen = false } }

    func resume() { state.withLock { $0.isOpen = true } }

    /// The row of the key; `nil` where there is none, or no answer.
    func entry(_ key: RecordKey) async -> Entry? {
        await withCheckedContinuation { continuation in
            queue.async { @Sendable [self] in
                // A failure is met again by the engine, which knows what to do about it.
                let entry = state.withLock { state -> Entry? in
                    guard state.isOpen, let connection = state.connection else { return nil }
                    return try? DiskTier.entry(key, connection)
                }
                continuation.resume(returning: entry)
            }
        }
    }
}
