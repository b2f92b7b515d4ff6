internal import Synchronization

/// One change of one key, on its way to the disk.
struct DiskWrite: Sendable {
    enum Change: Sendable {
        /// Sealed already, if it is encrypted.
        case put(bytes: [UInt8], head: DiskRecord.Head, tags: [String])
        case remove
    }

    let key: [UInt8]
    let number: DiskNumber
    let change: Change
    /// Told when it is on the disk, or cannot be.
    let done: (@Sendable (Result<Void, CacheError>) -> Void)?

    var byteCount: Int { if case .put(let bytes, _, _) = change { bytes.count + key.count } else { key.count } }
}

/// The changes that wait to be written, in order, and what readers see of them meanwhile: the last one of each key.
///
/// A change stays visible until it is on the disk, so a reader sees it at every moment. One that failed leaves a mark: its key misses
/// until the disk no longer holds what was to be replaced.
final class DiskStaging: Sendable {
    private struct Last {
        var order: Int
        var write: DiskWrite
    }

    private struct State {
        var waiting: [(order: Int, write: DiskWrite)] = []
        var last: [DiskNumber: Last] = [:]
        var failed: Set<DiskNumber> = []
        var bytes = 0
        var order = 0
        var isScheduled = false
        var firstError: CacheError?
    }

    private let state = Mutex(State())
    /// How many keys readers have to look up here, so that they need no lock while there is none.
    private let visible = Atomic(0)

    /// What a reader finds for a key here.
    enum Sight {
        /// Nothing: the disk knows.
        case none
        /// There is no value.
        case absent
        case value([UInt8], DiskRecord.Head, tags: [String])
    }

    /// - Returns: whether the caller is to have it drained; `nil` if it found no room.
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

    func look(_ key: UnsafeRawBufferPointer, _ number: DiskNumber) -> Sight {
        guard visible.load(ordering: .acquiring) > 0 else { return .none }
        return state.withLock { state in
            guard let last = state.last[number] else { return state.failed.contains(number) ? .absent : .none }
            // Another key of the same number will displace this one.
            guard last.write.key.elementsEqual(key), case .put(let bytes, let head, let tags) = last.write.change else { return .absent }
            return .value(bytes, head, tags: tags)
        }
    }

    /// The next changes to be written together, at most so many and about so many bytes; empty when there are none, and then the next
    /// ``append(_:limit:)`` has it drained again.
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
    var failed: [DiskNumber] { state.withLock { Array($0.failed) } }

    /// Takes back what is on the disk, or failed to get there, and tells those who wait, outside of the lock.
    func finish(_ writes: [(order: Int, write: DiskWrite)], _ results: [Result<Void, CacheError>], removed: [DiskNumber] = []) {
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

    /// Forgets what failed before, since nothing of it is on the disk any more.
    func forgetFailures() {
        state.withLock { state in
            state.failed = []
            visible.store(state.last.count, ordering: .releasing)
        }
    }

    /// The first failure of a write for which nobody waited, since this was last asked.
    func takeError() -> CacheError? {
        state.withLock { state in
            defer { state.firstError = nil }
            return state.firstError
        }
    }
}
