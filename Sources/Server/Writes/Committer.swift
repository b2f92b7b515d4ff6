internal import Dispatch
package import FreshetTrust
package import FreshetWire
internal import Synchronization

/// The only writer of a store: takes the submissions that wait, commits them with one `fsync`, publishes their changes,
/// and then calls their completions.
///
/// Thread-safe. Completions and `onCommit` are called on the committer's queue: they must not block.
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
        /// Nanoseconds after which a transaction takes no further submission.
        package var transactionTime: Int64 = 50_000_000

        package init() {}
    }

    private struct State {
        var queue: CommitQueue<Submission>
        var quotas: Quotas.Space
        /// Set when the committer stops; called when nothing waits any more.
        var stopping: [@Sendable () -> Void]?
    }

    private let store: any RecordStore
    private let configuration: Configuration
    private let clock: @Sendable () -> Timestamp
    private let now: @Sendable () -> Int64
    private let onCommit: @Sendable ([NamespaceCommit]) -> Void
    private let onFailure: @Sendable (StoreError) -> Void
    private let queue = DispatchQueue(label: "freshet.commits")
    private let state: Mutex<State>

    /// - Parameters:
    ///   - clock: the time that records are stamped with.
    ///   - now: nanoseconds that never go back, to estimate how long a write would have to wait.
    ///   - onCommit: gets the commits of each transaction, in order, before any completion is called.
    ///   - onFailure: gets the error of a failed transaction, for the log. The submissions have been refused by then.
    package init(
        store: any RecordStore, configuration: Configuration = Configuration(), clock: @escaping @Sendable () -> Timestamp,
        now: @escaping @Sendable () -> Int64, onFailure: @escaping @Sendable (StoreError) -> Void,
        onCommit: @escaping @Sendable ([NamespaceCommit]) -> Void
    ) {
        self.store = store
        self.configuration = configuration
        self.clock = clock
        self.now = now
        state = Mutex(State(queue: CommitQueue(configuration.queue), quotas: configuration.quotas))
        self.onCommit = onCommit
        self.onFailure = onFailure
    }

    /// Queues a submission. Its completion is called exactly once: when the submission is on disk, or at once if it is
    /// refused.
    package func submit(_ submission: Submission) {
        let now = now()
        let (problem, mustStart) = state.withLock { state -> (Problem?, Bool) in
            if state.stopping != nil { return (Self.stopped, false) }
            guard submission.isVital || state.queue.accepts(submission.load, now: now) else { return (Self.overloaded, false) }
            return (nil, state.queue.append(submission, submission.load))
        }
        if let problem { submission.refuse(problem) }
        if mustStart { queue.async { self.drain() } }
    }

    /// Throws the problem with which any submission would be refused now, so that no handler reads a long request in
    /// vain.
    package func checkRoom() throws(Problem) {
        let now = now()
        let isAccepted = state.withLock { $0.stopping != nil || $0.queue.accepts(WriteLoad(writes: 1), now: now) }
        guard isAccepted else { throw Self.overloaded }
    }

    /// Takes other quotas of namespaces, for the transactions that follow.
    package func set(_ quotas: Quotas.Space) { state.withLock { $0.quotas = quotas } }

    /// Refuses further submissions, finishes those that it has, and then calls the closure.
    package func stop(then completion: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.stopping = (state.stopping ?? []) + [completion]
            return !state.queue.isDraining
        }
        if isIdle { queue.async { self.drain() } }
    }

    /// Whether the committer refuses further submissions.
    package var isStopping: Bool { state.withLock { $0.stopping != nil } }

    /// The number of submissions that wait, for the metrics.
    package var waiting: Int { state.withLock { $0.queue.count } }

    private func drain() {
        while let (group, quotas) = nextGroup() {
            do throws(StoreError) {
                let deadline = TransactionDeadline(at: now() + configuration.transactionTime, now: now)
                let commit = try GroupCommit.commit(
                    group, to: store, at: clock(), editLimit: configuration.editLimit, quotas: quotas, room: configuration.room,
                    deadline: deadline)
                if !commit.commits.isEmpty { onCommit(commit.commits) }
                commit.complete()
                guard !commit.rest.isEmpty || commit.touched > 0 else { continue }
                state.withLock { $0.queue.putBack(commit.rest.map { ($0, $0.load) }, touched: commit.touched) }
            } catch {
                onFailure(error)
            }
        }
    }

    /// The submissions that wait, up to a group's bounds, and the quotas for them; `nil` if there are none.
    private func nextGroup() -> ([Submission], Quotas.Space)? {
        let now = now()
        let (group, quotas, stopped) = state.withLock { state -> ([Submission], Quotas.Space, [@Sendable () -> Void]) in
            let group = state.queue.nextGroup(now: now)
            guard group.isEmpty else { return (group, state.quotas, []) }
            defer { if state.stopping != nil { state.stopping = [] } }
            return (group, state.quotas, state.stopping ?? [])
        }
        for completion in stopped { completion() }
        return group.isEmpty ? nil : (group, quotas)
    }

    private static let overloaded = Problem(
        .overloaded, "More writes wait for the disk than it takes in time. Nothing of this was done: send it again after Retry-After.")
    private static let stopped = Problem(
        .unavailable, "The server is stopping, so it takes no more writes. Send it again after Retry-After.")
}
