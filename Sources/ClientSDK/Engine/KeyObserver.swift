internal import FreshetWire
internal import Synchronization

/// An observer of a key: gets the latest value, and skips values that came while it was busy.
final class KeyObserver: Sendable {
    let key: RecordKey
    /// Whether an unknown value is to be fetched.
    private let fetches: Bool
    private let continuation: AsyncStream<CachedValue>.Continuation
    private let latest: Mutex<CachedValue>

    init(_ first: CachedValue, fetches: Bool, _ continuation: AsyncStream<CachedValue>.Continuation) {
        key = first.view.key
        self.fetches = fetches
        self.continuation = continuation
        latest = Mutex(first)
        continuation.yield(first)
    }

    func notify(_ value: CachedValue) {
        latest.withLock { $0 = value }
        continuation.yield(value)
    }

    func forget(_ condition: (KeyView) -> Bool) {
        let view = latest.withLock { $0.view }
        if view.value != .unknown, !view.isPending, condition(view) { notify(CachedValue(KeyView(key, nil))) }
    }

    /// Returns a value of this observer with its present freshness. A value that was replaced since is not live any more.
    func hit(_ value: CachedValue, _ memory: MemoryTier) -> MemoryTier.Hit {
        let (isLatest, rule) = memory.readConsistently { latest.withLock { $0 === value } }
        var freshness = rule.of(value.view)
        if !isLatest, freshness == .live, let entry = value.view.entry { freshness = .confirmed(at: entry.verifiedAt) }
        return MemoryTier.Hit(value: value, freshness: freshness)
    }

    func finish() { continuation.finish() }

    var unknownKey: RecordKey? { fetches && latest.withLock { $0.view.value } == .unknown ? key : nil }
}
