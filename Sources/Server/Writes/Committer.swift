internal import DequeModule
internal import Dispatch
package import FreshetWire
internal import Synchronization

/// The one writer of a store: takes all that waits, commits it with one `fsync`, publishes it, and then tells the owners.
///
/// Thread-safe. Owners and `onCommit` are called on the committer's own queue: they must not block.
package final class Committer: Sendable {
    package struct Configuration: Sendable {
        /// The most submissions that may wait; more are refused as `overloaded`.
        package var waitingLimit = 10_000
        /// The most bytes of values that may wait.
        package var waitingByteLimit = 256 << 20
        /// The most writes that one transaction takes; a submission that is larger goes alone.
        package var groupLimit = 4_096
        /// The most bytes of values that one transaction takes.
        package var groupByteLimit = 16 << 20
        /// The most bytes that a patch or an increment may let a value grow to.
        package var valueLimit = 16 << 20

        package init() {}
    }

    private struct State {
        var waiting: Deque<Submission> = []
        var waitingBytes = 0
        var isDraining = false
        /// Set when the committer stops; called when nothing waits any more.
        var stopping: [@Sendable () -> Void]?
    }

    private let store: any RecordStore
    private let configuration: Configuration
    private let clock: @Sendable () -> Timestamp
    private let onCommit: @Sendable ([NamespaceCommit]) -> Void
    private let onFailure: @Sendable (StoreError) -> Void
    private let queue = DispatchQueue(label: "freshet.commits")
    private let state = Mutex(State())

    /// - Parameters:
    ///   - clock: the time that records are stamped with.
    ///   - onCommit: gets what each transaction did, in order, before any owner is told of it.
    ///   - onFailure: gets what made a transaction fail, for the log. Its owners have been told.
    package init(
        store: any RecordStore, configuration: Configuration = Configuration(), clock: @escaping @Sendable () -> Timestamp,
        onFailure: @escaping @Sendable (StoreError) -> Void, onCommit: @escaping @Sendable ([NamespaceCommit]) -> Void
    ) {
        self.store = store
        self.configuration = configuration
        self.clock = clock
        self.onCommit = onCommit
        self.onFailure = onFailure
    }

    /// Queues a submission. Its owner is told exactly once: when it is on disk, or at once if it is refused.
    package func submit(_ submission: Submission) {
        let (problem, mustStart) = state.withLock { state -> (Problem?, Bool) in
            if state.stopping != nil { return (Self.stopped, false) }
            guard state.waiting.count < configuration.waitingLimit, state.waitingBytes <= configuration.waitingByteLimit else {
                return (Self.overloaded, false)
            }
            state.waiting.append(submission)
            state.waitingBytes += submission.bytes
            defer { state.isDraining = true }
            return (nil, !state.isDraining)
        }
        if let problem { submission.refuse(problem) }
        if mustStart { queue.async { self.drain() } }
    }

    /// Takes no more submissions, finishes those that it has, and then calls the closure.
    package func stop(then completion: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.stopping = (state.stopping ?? []) + [completion]
            return !state.isDraining
        }
        if isIdle { queue.async { self.drain() } }
    }

    /// Whether it takes no more submissions.
    package var isStopping: Bool { state.withLock { $0.stopping != nil } }

    /// How many submissions wait, for the metrics.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    private func drain() {
        while let group = nextGroup() {
            do throws(StoreError) {
                let commit = try GroupCommit.commit(group, to: store, at: clock(), valueLimit: configuration.valueLimit)
                if !commit.commits.isEmpty { onCommit(commit.commits) }
                commit.complete()
            } catch { onFailure(error) }
        }
    }

    /// What waits, up to a group's bounds; `nil` when nothing does.
    private func nextGroup() -> [Submission]? {
        let (group, stopped) = state.withLock { state -> ([Submission]?, [@Sendable () -> Void]) in
            var group: [Submission] = []
            var writes = 0
            var bytes = 0
            while let next = state.waiting.first {
                writes += next.writes
                bytes += next.bytes
                if !group.isEmpty, writes > configuration.groupLimit || bytes > configuration.groupByteLimit { break }
                group.append(next)
                state.waiting.removeFirst()
                state.waitingBytes -= next.bytes
            }
            if !group.isEmpty { return (group, []) }
            state.isDraining = false
            defer { if state.stopping != nil { state.stopping = [] } }
            return (nil, state.stopping ?? [])
        }
        for completion in stopped { completion() }
        return group
    }

    private static let overloaded = Problem(.overloaded, "Too many writes wait for the disk. Send it again after Retry-After.")
    private static let stopped = Problem(
        .unavailable, "The server is stopping, so it takes no more writes. Send it again after Retry-After.")
}
