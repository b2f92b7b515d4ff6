internal import Synchronization

/// The latest status, for those who ask and for those who follow it.
final class StatusBoard: Sendable {
    private struct State {
        var status = SyncClient.Status(connection: .stopped)
        var last = 0
        var followers: [Int: AsyncStream<SyncClient.Status>.Continuation] = [:]
    }

    private let state = Mutex(State())

    var status: SyncClient.Status { state.withLock { $0.status } }

    /// Told by the engine's queue alone, so that followers see changes in their order.
    func update(_ change: (inout SyncClient.Status) -> Void) {
        let (status, followers) = state.withLock { state in
            let before = state.status
            change(&state.status)
            return (state.status, state.status == before ? [] : Array(state.followers.values))
        }
        for follower in followers { follower.yield(status) }
    }

    /// The present status and then each change; one who is slow gets the latest only.
    func follow() -> AsyncStream<SyncClient.Status> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                state.last += 1
                // Under the lock, so that no change can come before it; a fresh stream has no one to wake.
                continuation.yield(state.status)
                state.followers[state.last] = continuation
                return state.last
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.followers.removeValue(forKey: id) }
            }
        }
    }
}
