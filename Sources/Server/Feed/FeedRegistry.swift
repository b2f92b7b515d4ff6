import FreshetWire
import Synchronization

/// The feeds of all namespaces, each behind a separate lock, and the closure that carries out their deliveries.
///
/// A feed is made when a reader asks for it, and evicted when no reader has asked for a while: the store can answer
/// everything that the feed could.
final class FeedRegistry<Reader: Sendable>: Sendable {
    /// One namespace's feed.
    final class Entry: Sendable {
        struct State {
            /// `nil` until the store has returned the namespace's position.
            var feed: ChangeFeed<Reader>?
            var lastUse: Int64
            /// The bytes of the recent changes that the registry's total includes.
            fileprivate var counted = 0
            /// Whether another server has announced a commit while the feed was not open yet.
            fileprivate var isAnnounced = false
            /// Set once the entry has left the registry. A caller that still holds the entry looks the namespace up again.
            var isEvicted = false
        }

        let state: Mutex<State>
        let metrics: FeedMetrics
        let deliver: @Sendable (FeedDelivery<Reader>) -> Void
        /// Held while the deliveries of a commit or a tick are handed over, so that streams get them in that order.
        let delivery = Mutex(())

        fileprivate init(now: Int64, _ metrics: FeedMetrics, deliver: @escaping @Sendable (FeedDelivery<Reader>) -> Void) {
            state = Mutex(State(lastUse: now))
            self.metrics = metrics
            self.deliver = deliver
        }

        /// Asks the feed for a reader; see ``ChangeFeed/ask(_:_:waiter:isVerified:deadline:now:)``.
        ///
        /// - Returns: `nil` if the registry has to look the namespace up, again or for the first time.
        func ask(
            _ since: Since, _ subscription: Subscription, _ reader: Reader, isVerified: Bool = false, deadline: Int64?, now: Int64
        ) -> PollDecision? {
            let decision = state.withLock { state -> PollDecision? in
                guard !state.isEvicted, state.feed != nil else { return nil }
                state.lastUse = now
                return state.feed?.ask(
                    since, subscription, waiter: reader, isVerified: isVerified, deadline: deadline, now: now)
            }
            if let decision { metrics.count(decision) }
            return decision
        }

        /// An equal subscription, which shares its arrays with those of other readers. A connection that asks with it again
        /// and again finds its group without a look at arrays that no other connection has, which are in no cache of the
        /// processor: 2 % of a delivery and its poll where readers have rights.
        func shared(_ subscription: Subscription) -> Subscription {
            state.withLock { $0.feed?.groups.shared(subscription) } ?? subscription
        }

        /// Ends the wait of a reader that has disconnected. The reader may have closed only its sending side, so it is
        /// answered.
        func cancel(_ waiter: WaiterID) {
            if let delivery = state.withLock({ $0.feed?.cancel(waiter) }) { deliver(delivery) }
        }
    }

    /// How long an unused feed stays in memory, in milliseconds. One without recent changes goes sooner, since a caller
    /// can name any namespace at no cost.
    private static var idleLimits: (full: Int64, empty: Int64) { (300_000, 5_000) }

    let metrics: FeedMetrics
    private let limits: FeedLimits
    private let source: FeedSource
    private let deliver: @Sendable (FeedDelivery<Reader>) -> Void
    private let directory = Mutex(NamespaceFeeds<Entry>())
    private let isDraining = Atomic<Bool>(false)
    private let releaseCount = Atomic<Int>(0)
    /// The bytes of the recent changes of all feeds.
    private let recentBytes = Atomic<Int>(0)

    /// - Parameter deliver: carries out one delivery. It must not call the registry.
    init(
        limits: FeedLimits, metrics: FeedMetrics, source: FeedSource, deliver: @escaping @Sendable (FeedDelivery<Reader>) -> Void
    ) {
        self.limits = limits
        self.metrics = metrics
        self.source = source
        self.deliver = deliver
    }

    /// Asks for a reader that holds no entry. The entry that is returned with the decision can cancel the wait. Opens the
    /// feed if it is not open, which reads the store.
    func ask(
        _ since: Since, _ subscription: Subscription, in namespace: Namespace, _ reader: Reader, isVerified: Bool = false, deadline: Int64?,
        now: Int64
    ) throws(StoreError) -> (PollDecision, Entry) {
        while true {
            let entry = entry(for: namespace, now: now)
            if let decision = entry.ask(since, subscription, reader, isVerified: isVerified, deadline: deadline, now: now) {
                return (decision, entry)
            }
            try open(entry, namespace)
        }
    }

    /// Asks as ``ask(_:_:in:_:isVerified:deadline:now:)`` does; `nil` if the feed is not open.
    func askIfOpen(
        _ since: Since, _ subscription: Subscription, in namespace: Namespace, _ reader: Reader, deadline: Int64?, now: Int64
    ) -> (PollDecision, Entry)? {
        let entry = entry(for: namespace, now: now)
        return entry.ask(since, subscription, reader, deadline: deadline, now: now).map { ($0, entry) }
    }

    /// The position of a namespace's feed; `nil` if it is not open.
    func position(of namespace: Namespace) -> Cursor? {
        directory.withLock { $0[namespace] }?.state.withLock { $0.feed?.head }
    }

    /// Opens the feed at the store's position. The entry is in the directory before the store is read: a later commit
    /// finds the entry, and an earlier one is included in the position.
    private func open(_ entry: Entry, _ namespace: Namespace) throws(StoreError) {
        let cursor = try source.position(namespace)
        let after = entry.state.withLock { state -> Cursor? in
            begin(&state, at: cursor)
            guard state.isAnnounced else { return nil }
            state.isAnnounced = false
            return state.feed?.requireRead()
        }
        if let after { read(entry, namespace, after: after) }
    }

    private func begin(_ state: inout Entry.State, at position: Cursor) {
        guard state.feed == nil, !state.isEvicted else { return }
        state.feed = ChangeFeed(position: position, limits: limits, isShared: source.isShared)
        if isDraining.load(ordering: .sequentiallyConsistent) { _ = state.feed?.drain() }
    }

    /// Returns the entry of a namespace, and makes it if there is none.
    func entry(for namespace: Namespace, now: Int64) -> Entry {
        directory.withLock { directory in
            if let entry = directory.find(namespace) { return entry }
            let entry = Entry(now: now, metrics, deliver: deliver)
            directory[namespace] = entry
            return entry
        }
    }

    /// Publishes the commits of a transaction, before its writers get their answers.
    func publish(_ commits: [NamespaceCommit]) {
        for commit in commits where commit.isReset || !commit.changes.isEmpty {
            guard let entry = directory.withLock({ $0[commit.namespace] }) else { continue }
            update(entry, commit.namespace) { state in
                // The entry exists but is not open: the store may have been read before this commit, so the feed begins
                // before it.
                begin(&state, at: commit.base)
                return state.feed?.publish(commit)
            }
        }
        if recentBytes.load(ordering: .relaxed) > limits.totalBytes { evictUnused() }
    }

    /// Reads the store up to a position that another server has announced, if a feed of this server is behind it.
    func follow(_ namespace: Namespace, to position: Cursor) {
        guard let entry = directory.withLock({ $0[namespace] }) else { return }
        let after = entry.state.withLock { state -> Cursor? in
            guard state.feed != nil else {
                // The store may have been read before the announced commit.
                state.isAnnounced = true
                return nil
            }
            return state.feed?.note(announced: position)
        }
        if let after { read(entry, namespace, after: after) }
    }

    /// Reads the store for all feeds, after a transaction whose outcome is not known: any of them may lack its changes. A
    /// feed that is not open yet reads once it is.
    func readAll() {
        for (namespace, entry) in entries() {
            let after = entry.state.withLock { state -> Cursor? in
                state.isAnnounced = state.feed == nil
                return state.feed?.requireRead()
            }
            if let after { read(entry, namespace, after: after) }
        }
    }

    /// The namespaces that have feeds, whose positions a server that has missed announcements compares with the store.
    var followed: [Namespace] { entries().map(\.0) }

    private func read(_ entry: Entry, _ namespace: Namespace, after cursor: Cursor) {
        source.later { [self] in
            let read = source.read(cursor, namespace)
            update(entry, namespace) { state in
                guard let read else {
                    state.feed?.failRead()
                    return nil
                }
                return state.feed?.finish(read)
            }
        }
    }

    /// Evicts the recent changes of the feeds unused for longest, until all feeds together are within the budget.
    private func evictUnused() {
        let entries = entries().map(\.1)
        let holdings = entries.map { entry in entry.state.withLock { RecentBudget.Holding(bytes: $0.counted, lastUse: $0.lastUse) } }
        for place in RecentBudget(bytes: limits.totalBytes).evicted(from: holdings) {
            metrics.evicted.add()
            entries[place].state.withLock { state in
                state.feed?.dropRecent()
                count(&state)
            }
        }
    }

    /// Updates the total after a feed has changed. The caller holds the feed's lock.
    private func count(_ state: inout Entry.State) {
        let bytes = state.feed?.recentBytes ?? 0
        guard bytes != state.counted else { return }
        recentBytes.add(bytes - state.counted, ordering: .relaxed)
        state.counted = bytes
    }

    /// Ends the waits whose deadline has passed, and evicts unused feeds.
    func expire(now: Int64) {
        for (namespace, entry) in entries() {
            update(entry, namespace) { state in
                guard let deliveries = state.feed?.expire(now: now) else { return nil }
                return FeedUpdate(deliveries: deliveries, read: state.feed?.retryRead())
            }
            evictIdle(namespace, entry, now)
        }
    }

    /// Ends every wait in all namespaces. From now on no reader waits.
    func drain() {
        isDraining.store(true, ordering: .sequentiallyConsistent)
        for (_, entry) in entries() { run(entry) { $0.feed?.drain() } }
    }

    /// Ends every wait in the namespace. Its readers may ask again.
    func releaseWaiters(in namespace: Namespace) {
        if let entry = directory.withLock({ $0[namespace] }) { run(entry) { $0.feed?.releaseWaiters() } }
    }

    /// How many times all waiters were released. A reader whose request was received before a release, and that did not wait then,
    /// compares it with that of the request's arrival once it waits, and ends its wait.
    var releases: Int { releaseCount.load(ordering: .sequentiallyConsistent) }

    /// Ends every wait in all namespaces. Its readers may ask again.
    func releaseAllWaiters() {
        releaseCount.add(1, ordering: .sequentiallyConsistent)
        for (_, entry) in entries() { run(entry) { $0.feed?.releaseWaiters() } }
    }

    /// Refuses every wait in all namespaces with the problem. O(waiters).
    func refuseAllWaiters(_ problem: Problem) {
        for (_, entry) in entries() { run(entry) { $0.feed?.refuseWaiters(problem) } }
    }

    /// Ends the waits of the readers that `condition` names, in all namespaces: their sessions have ended. O(waiters).
    func end(where condition: (Reader) -> Bool) {
        for (_, entry) in entries() { run(entry) { $0.feed?.end(where: condition) } }
    }

    /// Drops the recent changes of a namespace, after the store has forgotten some of its history.
    func dropRecent(_ namespace: Namespace) {
        directory.withLock { $0[namespace] }?.state.withLock { state in
            state.feed?.dropRecent()
            count(&state)
        }
    }

    /// The number of readers that wait for a namespace's changes.
    func waiting(in namespace: Namespace) -> Int {
        directory.withLock { $0[namespace] }?.state.withLock { $0.feed?.waiting ?? 0 } ?? 0
    }

    /// The numbers of feeds, of waiting readers, and of changes and bytes in memory, over all namespaces.
    func totals() -> (feeds: Int, waiting: Int, changes: Int, bytes: Int) {
        var totals = (feeds: 0, waiting: 0, changes: 0, bytes: 0)
        for (_, entry) in entries() {
            entry.state.withLock { state in
                guard let feed = state.feed else { return }
                totals.feeds += 1
                totals.waiting += feed.waiting
                totals.changes += feed.recentCount
                totals.bytes += feed.recentBytes
            }
        }
        return totals
    }

    private func entries() -> [(Namespace, Entry)] { directory.withLock { $0.all } }

    private func run(_ entry: Entry, _ event: (inout sending Entry.State) -> sending [FeedDelivery<Reader>]?) {
        _ = perform(entry) { state in event(&state).map { FeedUpdate(deliveries: $0) } }
    }

    private func update(
        _ entry: Entry, _ namespace: Namespace, _ event: (inout sending Entry.State) -> sending FeedUpdate<Reader>?
    ) {
        if let after = perform(entry, event) { read(entry, namespace, after: after) }
    }

    /// Lets the feed take an event, hands over its deliveries, and returns where the store has to be read.
    private func perform(_ entry: Entry, _ event: (inout sending Entry.State) -> sending FeedUpdate<Reader>?) -> Cursor? {
        entry.delivery.withLock { _ in
            let update = entry.state.withLock { state in
                let update = event(&state)
                count(&state)
                return update
            }
            for delivery in update?.deliveries ?? [] { deliver(delivery) }
            return update?.read
        }
    }

    private func evictIdle(_ namespace: Namespace, _ entry: Entry, _ now: Int64) {
        directory.withLock { directory in
            let isIdle = entry.state.withLock { state in
                let limit = (state.feed?.recentCount ?? 0) > 0 ? Self.idleLimits.full : Self.idleLimits.empty
                guard now - state.lastUse > limit, (state.feed?.waiting ?? 0) == 0 else { return false }
                state.isEvicted = true
                // A caller that still holds the entry must not keep the feed in memory.
                state.feed = nil
                count(&state)
                return true
            }
            if isIdle { directory[namespace] = nil }
        }
    }
}
