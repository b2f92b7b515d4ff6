internal import Synchronization

/// Runs operations on the same key one after the other, in the order of their calls. Safe from any thread.
final class KeyedMutex<Key: Hashable & Sendable>: Sendable {
    /// The waiters of each key that is taken.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs the closure when its turn has come. The closure must not take the same key again.
    func perform<Result: Sendable>(
        for key: Key, _ body: @Sendable () async throws -> Result
    ) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer { pass(key) }
        return try await body()
    }

    /// Waits until all present turns have ended.
    func finish() async {
        for key in waiting.withLock({ Array($0.keys) }) { await perform(for: key) {} }
    }

    private func pass(_ key: Key) {
        let next: CheckedContinuation<Void, Never>? = waiting.withLock { waiting in
            guard let queue = waiting[key], let first = queue.first else {
                waiting[key] = nil
                return nil
            }
            waiting[key] = Array(queue.dropFirst())
            return first
        }
        next?.resume()
    }
}
