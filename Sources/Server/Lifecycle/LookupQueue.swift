import DequeModule
import FreshetWire
import Synchronization

/// Reads single records of a store that does not answer at once: all that wait, in one round trip.
///
/// A lookup begins at once if fewer than ``width`` groups are being read. While they are, others gather, so groups grow with
/// the load. Thread-safe.
final class LookupQueue: Sendable {
    typealias Completion = @Sendable (Result<Snapshot<Record?>, StoreError>) -> Void

    private struct State {
        var waiting = Deque<(lookup: RecordLookup, completion: Completion)>()
        /// How many threads of the read queue take groups.
        var readers = 0
    }

    /// How many groups are read at once.
    static let width = 2
    /// The most lookups of a group: at 64 KiB each, their values take 4 MiB.
    static let groupLimit = 64

    private let store: any RecordStore
    private let reads: ReadQueue
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - reads: lends its threads.
    ///   - limit: how many lookups may wait.
    init(_ store: any RecordStore, reads: ReadQueue, limit: Int) {
        self.store = store
        self.reads = reads
        self.limit = limit
    }

    /// The number of lookups that wait.
    var depth: Int { state.withLock { $0.waiting.count } }

    /// Calls the completion once, with the record, on a thread of the read queue; or with a refusal, at once.
    ///
    /// - Returns: false if too much waits already; then the completion is not called.
    func submit(_ lookup: RecordLookup, then completion: @escaping Completion) -> Bool {
        enum Next { case refused, gathered, begins }
        let next = state.withLock { state -> Next in
            guard state.waiting.count < limit else { return .refused }
            state.waiting.append((lookup, completion))
            guard state.readers < Self.width else { return .gathered }
            state.readers += 1
            return .begins
        }
        switch next {
        case .refused: return false
        case .gathered: return true
        case .begins:
            if reads.submit({ [self] in drain() }) { return true }
            // Another thread may have taken the lookup. If not, it is refused, and so are those that have gathered behind it.
            let refused = state.withLock { state in
                state.readers -= 1
                defer { if state.readers == 0 { state.waiting.removeAll() } }
                return state.readers == 0 ? Array(state.waiting) : []
            }
            for item in refused { item.completion(.failure(.overloaded(path: "", reason: "too many reads wait"))) }
            return true
        }
    }

    private func drain() {
        while true {
            let group = state.withLock { state in
                let group = Array(state.waiting.prefix(Self.groupLimit))
                state.waiting.removeFirst(group.count)
                if group.isEmpty { state.readers -= 1 }
                return group
            }
            guard !group.isEmpty else { return }
            for (item, result) in zip(group, store.records(group.map(\.lookup))) { item.completion(result) }
        }
    }
}
