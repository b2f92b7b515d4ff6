internal import Dispatch
package import FreshetTrust
package import FreshetWire
internal import Synchronization

/// The only writer of a store: takes the submissions that wait, commits them with one `fsync`, publishes their changes,
/// and then calls their completions. It has as many lanes as the store; ``CommitLanes`` has their rules.
///
/// Thread-safe. Completions and `onCommit` are called by the lanes' writers: they must not block. Those of submissions
/// that concern the whole store are called while no transaction is in progress, and before the next one begins.
package final class Committer: Sendable {
    package struct Configuration: Sendable {
        /// The bounds of the queue, and of one transaction.
        package var queue = CommitQueue<Submission>.Limits()
        /// The most bytes of a value that is patched or incremented, before and after.
        package var editLimit = 1 << 20
        /// The quotas of each namespace, until ``Committer/set(_:)``.
        package var quotas = Quotas.Space()
        /// How many bytes of values one transaction edits and, at half their number, frees.
        package var room = GroupCommit.room
        /// How many bytes of values a batch that is not atomic stores in one transaction.
        package var portion = GroupCommit.portion
        /// Nanoseconds after which a transaction takes no further submission.
        package var transactionTime: Int64 = 50_000_000

        package init() {}
    }

    private struct State {
        var lanes: CommitLanes<Submission>
        var quotas: Quotas.Space
        /// Set when the committer stops; called when nothing waits any more.
        var stopping: [@Sendable () -> Void]?
    }

    private let store: any RecordStore
    private let configuration: Configuration
    private let clock: @Sendable () -> WriteTime
    private let now: @Sendable () -> Int64
    private let onCommit: @Sendable ([NamespaceCommit]) -> Void
    private let onFailure: @Sendable (StoreError) -> Void
    private let writers: [LaneWriter]
    private let access: (any AccessCopy)?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - access: follows the store within each transaction, and gets its changes of access rows before any completion is
    ///     called.
    ///   - clock: the time with which writes are stamped.
    ///   - now: nanoseconds that never go back, to estimate how long a write would have to wait.
    ///   - onCommit: gets the commits of each transaction, in the order of each namespace, before any completion is
    ///     called. Lanes call it at once.
    ///   - onFailure: gets the error of a failed transaction, for the log. The submissions have been refused by then.
    package init(
        store: any RecordStore, access: (any AccessCopy)? = nil, configuration: Configuration = Configuration(),
        clock: @escaping @Sendable () -> WriteTime,
        now: @escaping @Sendable () -> Int64, onFailure: @escaping @Sendable (StoreError) -> Void,
        onCommit: @escaping @Sendable ([NamespaceCommit]) -> Void
    ) {
        self.store = store
        self.access = access
        self.configuration = configuration
        self.clock = clock
        self.now = now
        let lanes = CommitLanes<Submission>(store.lanes, configuration.queue)
        writers = (0..<lanes.width).map { _ in LaneWriter(waits: !store.answersAtOnce) }
        state = Mutex(State(lanes: lanes, quotas: configuration.quotas))
        self.onCommit = onCommit
        self.onFailure = onFailure
    }

    /// Queues a submission. Its completion is called exactly once: when the submission is on disk, or at once if it is
    /// refused.
    package func submit(_ submission: Submission) {
        let now = now()
        let place = submission.place(of: writers.count)
        let (problem, lane) = state.withLock { state -> (Problem?, Int?) in
            if state.stopping != nil { return (Self.stopped, nil) }
            guard submission.isVital || state.lanes.accepts(submission.load, at: place, now: now) else { return (Self.overloaded, nil) }
            return (nil, state.lanes.append(submission, submission.load, at: place))
        }
        if let problem { submission.refuse(problem) }
        if let lane { start(lane) }
    }

    /// Throws the problem with which any submission to the namespace would be refused now, so that no handler reads a long
    /// request in vain.
    package func checkRoom(in namespace: Namespace) throws(Problem) {
        let now = now()
        let place = CommitLanes<Submission>.Destination(namespace, of: writers.count)
        let isAccepted = state.withLock { $0.stopping != nil || $0.lanes.accepts(WriteLoad(writes: 1), at: place, now: now) }
        guard isAccepted else { throw Self.overloaded }
    }

    /// Takes other quotas of namespaces, for the transactions that follow.
    package func set(_ quotas: Quotas.Space) { state.withLock { $0.quotas = quotas } }

    /// Refuses further submissions, finishes those that it has, and then calls the closure.
    package func stop(then completion: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.stopping = (state.stopping ?? []) + [completion]
            return state.lanes.isIdle
        }
        if isIdle { start(0) }
    }

    /// Whether the committer refuses further submissions.
    package var isStopping: Bool { state.withLock { $0.stopping != nil } }

    /// The number of submissions that wait, for the metrics.
    package var waiting: Int { state.withLock { $0.lanes.count } }

    /// The number of lanes that have a group, for the metrics.
    package var busyLanes: Int { state.withLock { $0.lanes.busyCount } }

    private func start(_ lane: Int) {
        switch writers[lane] {
        // A closure that has nothing but `self` needs no allocation for it, one in each `PUT` (`scripts/check-counts`).
        case .queue(let queue) where lane == 0: queue.async { self.drain(0) }
        case .queue(let queue): queue.async { self.drain(lane) }
        case .thread(let thread): _ = thread.submit(isContinuation: true) { self.drain(lane) }
        }
    }

    private func drain(_ lane: Int) {
        while let (group, quotas) = nextGroup(of: lane) {
            do throws(StoreError) {
                let deadline = TransactionDeadline(at: now() + configuration.transactionTime, now: now)
                let commit = try GroupCommit.commit(
                    group, to: store, at: clock(), editLimit: configuration.editLimit, quotas: quotas, room: configuration.room,
                    portion: configuration.portion, access: access, deadline: deadline)
                if !commit.commits.isEmpty { onCommit(commit.commits) }
                if let changes = commit.access { access?.take(changes) }
                commit.complete()
                guard !commit.rest.isEmpty || commit.touched > 0 else { continue }
                let rest = commit.rest.map { ($0, $0.load) }
                state.withLock { $0.lanes.putBack(rest, isFirstBegun: commit.isFirstBegun, touched: commit.touched, lane: lane) }
            } catch {
                onFailure(error)
            }
        }
    }

    /// The submissions that the lane commits next, up to a group's bounds, and the quotas for them; `nil` if the lane rests.
    private func nextGroup(of lane: Int) -> ([Submission], Quotas.Space)? {
        let now = now()
        let (turn, quotas, stopped) = state.withLock { state -> (CommitLanes<Submission>.Turn, Quotas.Space, [@Sendable () -> Void]) in
            let turn = state.lanes.next(lane, now: now)
            guard state.lanes.isIdle else { return (turn, state.quotas, []) }
            defer { if state.stopping != nil { state.stopping = [] } }
            return (turn, state.quotas, state.stopping ?? [])
        }
        for lane in turn.starts { start(lane) }
        for completion in stopped { completion() }
        return turn.group.isEmpty ? nil : (turn.group, quotas)
    }

    private static let overloaded = Problem(
        .overloaded, "More writes wait for the disk than it takes in time. Nothing of this was done: send it again after Retry-After.")
    private static let stopped = Problem(
        .unavailable, "The server is stopping, so it takes no more writes. Send it again after Retry-After.")
}
