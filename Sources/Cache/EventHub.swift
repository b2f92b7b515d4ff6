internal import Synchronization

/// The listeners to the events of a cache. Calls no listener under its lock.
final class EventHub<Event: Sendable>: Sendable {
    private struct Listeners {
        var next = 0
        var all: [Int: AsyncStream<Event>.Continuation] = [:]
    }

    private let listeners = Mutex(Listeners())

    /// A stream that buffers at most 256 events, then drops the oldest.
    func stream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in _ = self?.listeners.withLock { $0.all.removeValue(forKey: number) } }
        return stream
    }

    func send(_ event: Event) {
        for continuation in listeners.withLock({ Array($0.all.values) }) { continuation.yield(event) }
    }

    func finish() {
        let all = listeners.withLock { listeners in
            defer { listeners.all = [:] }
            return Array(listeners.all.values)
        }
        for continuation in all { continuation.finish() }
    }
}
