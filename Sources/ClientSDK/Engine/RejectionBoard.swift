internal import FreshetWire
internal import Synchronization

/// Notifies observers of the list of rejected writes. The list itself is on disk.
final class RejectionBoard: Sendable {
    private struct State {
        var last = 0
        var observers: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    /// Signals that the list has changed.
    func signal() {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer.yield() }
    }

    /// Returns a stream that signals at once, and again after each change; a slow observer gets one signal for many changes.
    func observe() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            continuation.yield()
            let id = state.withLock { state in
                state.last += 1
                state.observers[state.last] = continuation
                return state.last
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.observers.removeValue(forKey: id) }
            }
        }
    }

    /// Ends all sequences.
    func finish() {
        let observers = state.withLock { state in
            defer { state.observers = [:] }
            return Array(state.observers.values)
        }
        for observer in observers { observer.finish() }
    }
}
