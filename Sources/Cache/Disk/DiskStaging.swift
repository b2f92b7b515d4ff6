internal import Synchronization

/// One change of one key, on its way to the disk.
struct DiskWrite: Sendable {
    enum Change: Sendable {
        /// The bytes are sealed already if the value is encrypted.
        case put(bytes: [UInt8], head: DiskRecord.Head, tags: [String])
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

    private struct State {
        var waiting: [(order: Int, write: DiskWrite)] = []
        var last: [KeyHash: Last] = [:]
        var failed: Set<KeyHash> = []
        var bytes = 0
        var order = 0
        var isScheduled = false
        var firstError: CacheError?
    }

    private let state = Mutex(State())
    /// How many keys readers must look up here; at zero they take no lock.
    private let visible = Atomic(0)

    /// The result of a reader's lookup.
    enum ReadResult {
        /// Nothing is staged: read the disk.
        case none
        /// There is no value.
        case absent
        case value([UInt8], DiskRecord.Head, tags: [String])
    }

    /// - Returns: whether the caller must schedule a drain; `nil` if the change exceeds the limit.
    func append(_ write: DiskWrite, limit: Int) -> Bool? {
        state.withLock { state in
            guard state.bytes + write.byteCount <= limit else { return nil }
            state.order += 1
            state.waiting.append((state.order, write))
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

    /// Takes the next changes to be written together, at most so many and about so many bytes. If there are none, the next
    /// ``append(_:limit:)`` asks its caller to schedule a drain again.
    func take(count: Int, bytes: Int) -> [(order: Int, write: DiskWrite)] {
        state.withLock { state in
            var size = 0
            var taken = 0
            while taken < min(count, state.waiting.count), size < bytes {
                size += state.waiting[taken].write.byteCount
                taken += 1
            }
            defer { state.waiting.removeFirst(taken) }
            if taken == 0 { state.isScheduled = false }
            return Array(state.waiting[..<taken])
        }
    }

    /// The rows of failed writes, which are to be removed with the next transaction.
    var failed: [KeyHash] { state.withLock { Array($0.failed) } }

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
