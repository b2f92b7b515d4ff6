internal import Synchronization

/// Delivers each element to all streams that were made before it. Safe from any thread; calls nothing under its lock.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Subscribers {
        var last = 0
        var all: [Int: AsyncStream<Element>.Continuation] = [:]
    }

    private let subscribers = Mutex(Subscribers())
    private let limit: Int

    /// - Parameter limit: the number of elements that wait for a slow consumer; beyond it the oldest are dropped.
    package init(keepingLatest limit: Int) { self.limit = limit }

    /// A new stream, which ends with ``finish()``.
    ///
    /// - Parameter first: an element to deliver before all others.
    package func stream(first: Element? = nil) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(limit))
        if let first { continuation.yield(first) }
        let number = subscribers.withLock { subscribers in
            subscribers.last += 1
            subscribers.all[subscribers.last] = continuation
            return subscribers.last
        }
        continuation.onTermination = { [weak self] _ in _ = self?.subscribers.withLock { $0.all.removeValue(forKey: number) } }
        return stream
    }

    package func send(_ element: Element) {
        for continuation in subscribers.withLock({ Array($0.all.values) }) { continuation.yield(element) }
    }

    /// Ends all streams that were made so far.
    package func finish() {
        let all = subscribers.withLock { subscribers in
            defer { subscribers.all = [:] }
            return Array(subscribers.all.values)
        }
        for continuation in all { continuation.finish() }
    }
}
