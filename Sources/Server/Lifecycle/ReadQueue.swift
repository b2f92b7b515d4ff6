import Dispatch
import FreshetPlatform
import Glibc
import Synchronization

/// Runs work that may take long (scans, large bodies) on a few threads, away from the event loops, in turns by sender, and
/// refuses work when too much waits (``TurnQueue``).
///
/// By default the threads have a low priority, so that event loops and commits do not wait for a processor where many clients read
/// much at once. With all attacks on memory at once, on two processors, other clients write a third more.
final class ReadQueue: Sendable {
    typealias Work = @Sendable () -> Void

    private let workers: Workers

    /// - Parameters:
    ///   - width: how many work items run at once.
    ///   - limit: how many work items may run or wait; those of one sender may be a quarter of them.
    ///   - niceness: that of the threads, beside 0 of the others.
    init(width: Int, limit: Int, niceness: Int32 = 10) { workers = Workers(width: width, limit: limit, niceness: niceness) }

    deinit { workers.stop {} }

    /// The number of work items that wait.
    var depth: Int { workers.depth }

    /// - Parameters:
    ///   - isContinuation: whether the work continues an accepted item, and so must not be refused half-way.
    ///   - sender: `nil` for the server itself.
    /// - Returns: false if too much waits already, in all or of the sender, or the queue has stopped.
    func submit(isContinuation: Bool = false, of sender: ReadSender? = nil, _ work: @escaping Work) -> Bool {
        workers.submit(isContinuation, isUrgent: false, isCounted: true, of: sender, work)
    }

    /// Runs the next step of a stream, of which there is one at a time. It is never refused, and no other work is refused because of it:
    /// one commit may continue all streams.
    func submitStep(of sender: ReadSender, _ work: @escaping Work) {
        _ = workers.submit(true, isUrgent: false, isCounted: false, of: sender, work)
    }

    /// Runs work of the server itself, short and bounded in number, before all that waits for clients: how late it learns of commits
    /// and revocations by other servers must not depend on what clients read. It is never refused.
    func submitUrgent(_ work: @escaping Work) { _ = workers.submit(true, isUrgent: true, isCounted: true, of: nil, work) }

    /// Refuses new work, finishes the accepted work, and then calls the closure.
    func stop(then completion: @escaping Work) { workers.stop(then: completion) }
}

/// What the threads share. They do not keep the queue, so that they end with it.
private final class Workers: Sendable {
    private struct State {
        var queue: TurnQueue<ReadSender, ReadQueue.Work>
        /// The number of threads, and how many of them wait for work.
        var threads = 0
        var idle = 0
        /// Set when the queue stops; called once nothing is pending any more.
        var onIdle: [ReadQueue.Work]?
    }

    private enum Start {
        case refused
        case served
        case wakesThread
        case needsThread
    }

    private let niceness: Int32
    private let width: Int
    private let wakeups = DispatchSemaphore(value: 0)
    private let state: Mutex<State>

    init(width: Int, limit: Int, niceness: Int32) {
        self.niceness = niceness
        self.width = max(width, 1)
        state = Mutex(State(queue: TurnQueue(limit: limit, senderLimit: max(limit / 4, 1))))
    }

    var depth: Int { state.withLock { $0.queue.waiting } }

    func submit(
        _ isContinuation: Bool, isUrgent: Bool, isCounted: Bool, of sender: ReadSender?, _ work: @escaping ReadQueue.Work
    ) -> Bool {
        let start = state.withLock { state -> Start in
            if isUrgent {
                state.queue.addUrgent(work)
            } else {
                guard isContinuation || state.onIdle == nil else { return .refused }
                guard state.queue.add(work, of: sender, isContinuation: isContinuation, isCounted: isCounted) else { return .refused }
            }
            if state.idle > 0 {
                state.idle -= 1
                return .wakesThread
            }
            guard state.threads < width else { return .served }
            state.threads += 1
            return .needsThread
        }
        switch start {
        case .refused: return false
        case .served: return true
        case .wakesThread: wakeups.signal()
        case .needsThread:
            let failure = DetachedThread.start {
                // Any process may lower its priority. This one is that of the calling thread alone (sched(7)).
                if self.niceness != 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, self.niceness) }
                self.run()
            }
            // The system has no thread, and the work is accepted: a shared one does it.
            if failure != 0 { DispatchQueue.global().async { self.run() } }
        }
        return true
    }

    func stop(then completion: @escaping ReadQueue.Work) {
        let (isIdle, sleepers) = state.withLock { state in
            let isIdle = state.queue.pending == 0
            state.onIdle = (state.onIdle ?? []) + (isIdle ? [] : [completion])
            defer { state.idle = 0 }
            return (isIdle, state.idle)
        }
        for _ in 0..<sleepers { wakeups.signal() }
        if isIdle { completion() }
    }

    private func run() {
        while let (work, sender, isCounted) = next() {
            work()
            for completion in finishedOne(of: sender, isCounted) { completion() }
        }
    }

    /// Waits for the next work; `nil` when the thread has to end.
    private func next() -> (work: ReadQueue.Work, sender: ReadSender?, isCounted: Bool)? {
        while true {
            let (item, ends) = state.withLock { state -> ((work: ReadQueue.Work, sender: ReadSender?, isCounted: Bool)?, Bool) in
                if let item = state.queue.next() { return (item, false) }
                guard state.onIdle == nil else {
                    state.threads -= 1
                    return (nil, true)
                }
                state.idle += 1
                return (nil, false)
            }
            if let item { return item }
            if ends { return nil }
            wakeups.wait()
        }
    }

    private func finishedOne(of sender: ReadSender?, _ isCounted: Bool) -> [ReadQueue.Work] {
        state.withLock { state in
            state.queue.finish(sender, isCounted: isCounted)
            guard state.queue.pending == 0, let onIdle = state.onIdle else { return [] }
            state.onIdle = []
            return onIdle
        }
    }
}
