internal import Synchronization

/// The latest status, for readers and for followers.
final class StatusBroadcaster: Sendable {
    private struct State {
        var status = SyncClient.Status(connection: .stopped)
        var last = 0
        var subscribers: [Int: AsyncStream<SyncClient.Status>.Continuation] = [:]
    }

    private let state = Mutex(State())

    deinit { for subscriber in state.withLock({ $0.subscribers.values }) { subscriber.finish() } }

    var status: SyncClient.Status { state.withLock { $0.status } }

    /// Changes the status. Called only by the engine's queue, so that followers see changes in their order.
    func update(_ change: (inout SyncClient.Status) -> Void) {
        let (status, subscribers) = state.withLock { state in
            let before = state.status
            change(&state.status)
            return (state.status, state.status == before ? [] : Array(state.subscribers.values))
        }
        for subscriber in subscribers { subscriber.yield(status) }
    }

    /// Returns the present status and then each change, until this object is released. A slow consumer receives only the latest.
    func subscribe() -> AsyncStream<SyncClient.Status> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                state.last += 1
                // Under the lock, so that no change can come before it; a new stream has no waiter to resume.
                continuation.yield(state.status)
                state.subscribers[state.last] = continuation
                return state.last
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.subscribers.removeValue(forKey: id) }
            }
        }
    }
}
