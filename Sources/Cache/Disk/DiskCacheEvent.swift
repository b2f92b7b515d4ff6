internal import Synchronization

/// What a ``DiskCache`` did by itself, that its owner may want to know.
public enum DiskCacheEvent: Hashable, Sendable {
    /// All entries are gone, and the cache began anew.
    case startedAnew(Reason)
    /// An entry was damaged and is removed.
    case damaged(key: [UInt8])
    /// So many entries left, the least recently used, for the limit of bytes.
    case evicted(entries: Int)
    /// A value was not stored, and what was under its key is removed: too large, or too much was waiting already.
    case refused(key: [UInt8], bytes: Int)
    /// Values that were staged could not be written; their keys miss until they are written again.
    case writeFailed(CacheError)

    /// Why a cache began anew.
    public enum Reason: Hashable, Sendable {
        /// The directory was of another version of the format.
        case format
        /// The directory was of another schema.
        case schema
        /// The file was damaged, as the text tells.
        case damage(String)
        /// Someone asked for it.
        case request
    }
}

/// Those who listen to events. Nothing is called under its lock.
final class DiskEventHub: Sendable {
    private struct Listeners {
        var next = 0
        var all: [Int: AsyncStream<DiskCacheEvent>.Continuation] = [:]
    }

    private let listeners = Mutex(Listeners())

    func stream() -> AsyncStream<DiskCacheEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: DiskCacheEvent.self, bufferingPolicy: .bufferingNewest(256))
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in _ = self?.listeners.withLock { $0.all.removeValue(forKey: number) } }
        return stream
    }

    func send(_ event: DiskCacheEvent) {
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
