import DequeModule
import Dispatch
import Synchronization

/// Runs work that may take long (scans, large bodies) on a few threads, away from the event loops, and refuses work
/// when too much waits.
final class ReadQueue: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var waiting = Deque<Work>()
        /// The number of threads that are running, or about to.
        var running = 0
        /// The number of work items that were accepted and are not finished.
        var pending = 0
        /// Set when the queue stops; called once nothing runs any more.
        var onIdle: [Work]?
    }

    private let width: Int
    private let limit: Int
    private let queue = DispatchQueue(label: "freshet.reads", attributes: .concurrent)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: how many work items run at once.
    ///   - limit: how many work items may run or wait.
    init(width: Int, limit: Int) {
        self.width = max(width, 1)
        self.limit = limit
    }

    /// The number of work items that wait.
    var depth: Int { state.withLock { $0.waiting.count } }

    /// - Parameter isContinuation: whether the work continues an accepted item, and so must not be refused half-way.
    /// - Returns: false if too much waits already or the queue has stopped.
    func submit(isContinuation: Bool = false, _ work: @escaping Work) -> Bool {
        let (isAccepted, mustStart) = state.withLock { state in
            guard isContinuation || state.onIdle == nil && state.pending < limit else { return (false, false) }
            state.waiting.append(work)
            state.pending += 1
            guard state.running < width else { return (true, false) }
            state.running += 1
            return (true, true)
        }
        if mustStart { queue.async { self.run() } }
        return isAccepted
    }

    /// Refuses new work, finishes the accepted work, and then calls the closure.
    func stop(then completion: @escaping Work) {
        let isIdle = state.withLock { state in
            guard state.running > 0 else {
                state.onIdle = []
                return true
            }
            state.onIdle = (state.onIdle ?? []) + [completion]
            return false
        }
        if isIdle { completion() }
    }

    private func run() {
        while let work = next() {
            work()
            state.withLock { $0.pending -= 1 }
        }
    }

    private func next() -> Work? {
        let (work, finished) = state.withLock { state -> (Work?, [Work]) in
            if let work = state.waiting.popFirst() { return (work, []) }
            state.running -= 1
            guard state.running == 0, let onIdle = state.onIdle else { return (nil, []) }
            state.onIdle = []
            return (nil, onIdle)
        }
        for completion in finished { completion() }
        return work
    }
}
