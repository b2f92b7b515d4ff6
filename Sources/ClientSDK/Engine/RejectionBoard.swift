internal import FreshetWire
internal import Synchronization

/// Tells of rejected writes whoever listens: the writer may be gone since before a restart.
final class RejectionBoard: Sendable {
    private struct State {
        var last = 0
        var listeners: [Int: AsyncStream<SyncClient.Rejection>.Continuation] = [:]
    }

    /// So many wait for a slow listener; then the oldest go.
    private static let capacity = 256
    private let state = Mutex(State())

    func tell(_ rejection: SyncClient.Rejection) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(rejection) }
    }

    func listen() -> AsyncStream<SyncClient.Rejection> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.capacity)) { continuation in
            let id = state.withLock { state in
                state.last += 1
                state.listeners[state.last] = continuation
                return state.last
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
            }
        }
    }
}
