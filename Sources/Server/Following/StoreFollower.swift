import FreshetWire
import Logging
import Synchronization

/// A store that is opened by others than the server, and its connection to the other servers that use it.
package struct SharedStore: Sendable {
    package let store: any RecordStore
    /// `nil` if one server alone uses the store.
    package let announcements: (any CommitAnnouncements)?

    package init(_ store: any RecordStore, _ announcements: (any CommitAnnouncements)? = nil) {
        self.store = store
        self.announcements = announcements
    }
}

/// Keeps a server's feeds up to date with a store that other servers write to, and announces this server's commits.
/// ``HeadFollower`` decides; this shell has the connection, the clock and the reads.
///
/// Thread-safe. Calls and events perform their actions without a lock.
final class StoreFollower: Sendable {
    /// For the metrics.
    struct Statistics: Sendable {
        var isConnected = false
        /// The namespaces whose commits wait to be announced.
        var waiting = 0
        var sent = 0
        /// Messages of all servers, those of this one included.
        var received = 0
        var reconciliations = 0
        var failedReconciliations = 0
    }

    private struct State {
        var follower: HeadFollower
        var counts = Statistics()
        var isStopped = false
        /// Counts the connections: what a former one delivers late has no effect.
        var connections = 0
    }

    /// How many namespaces are compared, by one read, before other reads have their turn.
    private static let reconcileStep = 256

    private let announcements: any CommitAnnouncements
    private let feeds: FeedRegistry<FeedReader>
    private let source: FeedSource
    private let onAccess: @Sendable (AccessVersion) -> Void
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameters:
    ///   - now: monotonic milliseconds.
    ///   - onAccess: gets the versions of keys and revocations that other servers announce.
    init(
        _ announcements: any CommitAnnouncements, _ feeds: FeedRegistry<FeedReader>, _ source: FeedSource, sender: UInt64,
        now: @escaping @Sendable () -> Int64, logger: Logger,
        onAccess: @escaping @Sendable (AccessVersion) -> Void
    ) {
        self.announcements = announcements
        self.feeds = feeds
        self.source = source
        self.onAccess = onAccess
        self.now = now
        self.logger = logger
        state = Mutex(State(follower: HeadFollower(sender: sender, now: now())))
    }

    deinit { announcements.disconnect() }

    /// Whether the server receives messages of others, as far as it knows.
    var isConnected: Bool { state.withLock { $0.follower.isConnected } }

    var statistics: Statistics {
        state.withLock { state in
            var statistics = state.counts
            (statistics.isConnected, statistics.waiting) = (state.follower.isConnected, state.follower.waitingCount)
            return statistics
        }
    }

    /// The problem of all readers while the server has not seen the store for a while; `nil` if there is none.
    var contactProblem: Problem? {
        let now = now()
        guard state.withLock({ $0.follower.lacksContact(at: now) }) else { return nil }
        return Problem(
            .unavailable,
            "The server has not reached the store for \(HeadFollower.contactLimit / 1_000) seconds, so it cannot say whether other servers "
                + "have changed anything. Ask another server, or again after Retry-After.")
    }

    /// Takes the commits of a transaction that have been published.
    func committed(_ commits: [NamespaceCommit]) {
        handle(.committed(commits.map { HeadMessage.Head($0.namespace, $0.cursor) }))
    }

    /// Takes a version of keys and revocations that this server has made.
    func changedAccess(_ version: AccessVersion) { handle(.changedAccess(version)) }

    /// Call every ``HeadFollower/tick`` milliseconds.
    func timePassed() { handle(.tick) }

    /// Closes the connection. Later events have no effect.
    func stop() {
        state.withLock { $0.isStopped = true }
        announcements.disconnect()
    }

    private func handle(_ event: HeadFollower.Event) {
        let now = now()
        let actions = state.withLock { state in
            state.counts.note(event)
            return state.isStopped ? [] : state.follower.handle(event, now: now)
        }
        for action in actions {
            switch action {
            case .connect: connect()
            case .send(let message): announcements.send(message)
            case .followAccess(let version): onAccess(version)
            case .follow(let head): feeds.follow(head.namespace, to: head.position)
            case .reconcile: reconcile(feeds.followed[...])
            }
        }
    }

    private func connect() {
        let number = state.withLock { state in
            state.connections += 1
            return state.connections
        }
        announcements.connect { [weak self] event in
            guard let self, state.withLock({ $0.connections }) == number else { return }
            handle(event)
        }
    }

    private func reconcile(_ namespaces: ArraySlice<Namespace>) {
        source.later { [self] in
            let step = Array(namespaces.prefix(Self.reconcileStep))
            do throws(StoreError) {
                for (namespace, position) in zip(step, try source.positions(step)) { feeds.follow(namespace, to: position) }
            } catch {
                // The next one tries again.
                logger.error("the feeds could not be compared with the store", metadata: ["error": "\(error)"])
                return handle(.reconciled(isComplete: false))
            }
            let rest = namespaces.dropFirst(Self.reconcileStep)
            guard !rest.isEmpty else { return handle(.reconciled(isComplete: true)) }
            handle(.readStore)
            reconcile(rest)
        }
    }
}

extension StoreFollower.Statistics {
    fileprivate mutating func note(_ event: HeadFollower.Event) {
        switch event {
        case .sent: sent += 1
        case .received: received += 1
        case .reconciled(let isComplete):
            (reconciliations, failedReconciliations) = (reconciliations + 1, failedReconciliations + (isComplete ? 0 : 1))
        case .established, .lost, .committed, .changedAccess, .readStore, .tick: break
        }
    }
}
