internal import Synchronization

/// One change of one key, on its way to the disk.
struct DiskWrite: Sendable {
    enum Change: Sendable {
        /// The bytes are sealed already if the value is encrypted.
        case put(bytes: [UInt8], head: DiskRecord.Head, tags: [CacheTag])
        case remove
    }

    let key: [UInt8]
    let number: KeyHash
    let change: Change
    /// Called when the change is on the disk, or has failed.
    let done: (@Sendable (Result<Void, CacheError>) -> Void)?

    var byteCount: Int { if case .put(let bytes, _, _) = change { bytes.count + key.count } else { key.count } }
}

/// The changes that wait to be written, in order. Readers see the last change of each key.
///
/// A change stays visible here until it is on the disk, so a reader sees it at every moment. A failed change leaves a mark: its key misses
/// until the outdated row is removed from the disk.
final class DiskStaging: Sendable {
    private struct Last {
        var order: Int
        var write: DiskWrite
    }

    private struct Batch {
        var writes: [(order: Int, write: DiskWrite)] = []
        var bytes = 0
    }

    private struct State {
        /// In order. Only the last batch grows.
        var waiting: [Batch] = []
        var last: [KeyHash: Last] = [:]
        var failed: Set<KeyHash> = []
        var bytes = 0
        var order = 0
        var isScheduled = false
        var firstError: CacheError?
    }

    /// The limits of one batch, which is written in one transaction. A larger one costs less for each write; a smaller
    /// one completes the first write sooner.
    private static let batchCount = 256
    private static let batchBytes = 8 << 20

    private let state = Mutex(State())
    /// How many keys readers must look up here; at zero they take no lock.
    private let visible = Atomic(0)

    /// The result of a reader's lookup.
    enum ReadResult {
        /// Nothing is staged: read the disk.
        case none
        /// There is no value.
        case absent
        case value([UInt8], DiskRecord.Head, tags: [CacheTag])
    }

    /// - Returns: whether the caller must schedule a drain; `nil` if the change exceeds the limit.
    func append(_ write: DiskWrite, limit: Int) -> Bool? {
        state.withLock { state in
            guard state.bytes + write.byteCount <= limit else { return nil }
            state.order += 1
            if state.waiting.last.map({ $0.writes.count >= Self.batchCount || $0.bytes >= Self.batchBytes }) ?? true {
                state.waiting.append(Batch())
            }
            state.waiting[state.waiting.count - 1].writes.append((state.order, write))
            state.waiting[state.waiting.count - 1].bytes += write.byteCount
            state.last[write.number] = Last(order: state.order, write: write)
            state.bytes += write.byteCount
            visible.store(state.last.count + state.failed.count, ordering: .releasing)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
    }

    func look(_ key: UnsafeRawBufferPointer, _ number: KeyHash) -> ReadResult {
        guard visible.load(ordering: .acquiring) > 0 else { return .none }
        return state.withLock { state in
            guard let last = state.last[number] else { return state.failed.contains(number) ? .absent : .none }
            // Another key with the same number will replace this one.
            guard last.write.key.elementsEqual(key), case .put(let bytes, let head, let tags) = last.write.change else { return .absent }
            return .value(bytes, head, tags: tags)
        }
    }

    /// The number of the last change that was staged.
    var lastOrder: Int { state.withLock { $0.order } }

    /// Takes the next changes to be written together. If no change waits, the next ``append(_:limit:)`` asks its caller
    /// to schedule a drain again.
    ///
    /// - Parameter last: takes nothing if all changes up to this one were taken.
    func take(through last: Int) -> [(order: Int, write: DiskWrite)] {
        state.withLock { state in
            guard let first = state.waiting.first?.writes.first else {
                state.isScheduled = false
                return []
            }
            return first.order <= last ? state.waiting.removeFirst().writes : []
        }
    }

    /// Some rows of failed writes, which are to be removed with the next transaction.
    var failed: [KeyHash] { state.withLock { Array($0.failed.prefix(Self.mostRemoved)) } }

    /// The most rows of failed writes that one transaction removes: on a full disk each write would try to remove the
    /// rows of all that failed before.
    private static let mostRemoved = 256

    /// How many keys miss since their writes failed.
    var failedCount: Int { state.withLock { $0.failed.count } }

    /// Removes the changes that are on the disk, or have failed, and then calls their completions outside of the lock.
    func finish(_ writes: [(order: Int, write: DiskWrite)], _ results: [Result<Void, CacheError>], removed: [KeyHash] = []) {
        state.withLock { state in
            for number in removed { state.failed.remove(number) }
            for ((order, write), result) in zip(writes, results) {
                state.bytes -= write.byteCount
                switch result {
                case .success: state.failed.remove(write.number)
                case .failure(let error):
                    state.failed.insert(write.number)
                    if write.done == nil { state.firstError = state.firstError ?? error }
                }
                if state.last[write.number]?.order == order { state.last[write.number] = nil }
            }
            visible.store(state.last.count + state.failed.count, ordering: .releasing)
        }
        for ((_, write), result) in zip(writes, results) { write.done?(result) }
    }

    /// Forgets the marks of failed changes, since the disk holds none of their rows any more.
    func forgetFailures() {
        state.withLock { state in
            state.failed = []
            visible.store(state.last.count, ordering: .releasing)
        }
    }

    /// Takes the first failure of a staged write since the last call.
    func takeError() -> CacheError? {
        state.withLock { state in
            defer { state.firstError = nil }
            return state.firstError
        }
    }
}
