import FreshetWire

/// The keys that are being read: their callers, the maximum age of a response, and the time of the next attempt.
struct ReadQueue: Hashable, Sendable {
    /// One key that is being read, for all its callers.
    struct Item: Hashable, Sendable {
        var key: RecordKey
        /// The key's place in the order of the first requests.
        fileprivate(set) var sequence: Int64 = 0
        /// The device's record at the time of the request.
        var known: Entry?
        /// A response that reflects an earlier position is dropped (rule 4).
        var lowerBound: Revision
        /// The waiting callers.
        var waiters: [CallerID]
        /// Callers that came while a request was in flight and want the response to a later one.
        var nextWaiters: [CallerID] = []
        /// Whether the machine needs the record itself.
        var isOwn = false
        var isUnderWay = false
        /// Whether its value is too large for a response with other records.
        var isAlone = false
        /// The number of responses that could not be used.
        var attempts = 0
        var retry = Retry()
        /// Whether it waits because no response came, rather than because the server asked it to.
        var lacksContact = false
        /// The failure of the last attempt.
        var failure: SyncFailure?

        /// Whether the last attempt showed that the token may not read the key.
        var isForbidden: Bool { if case .refused(let problem)? = failure { problem.code == .forbidden } else { false } }
        var hasCallers: Bool { !waiters.isEmpty || !nextWaiters.isEmpty }
    }

    private struct QueuePosition: Hashable, Sendable {
        var key: RecordKey
        var sequence: Int64
    }

    /// A caller with the views that it has got so far.
    private struct Waiter: Hashable, Sendable {
        let keys: [RecordKey]
        /// Uptime in milliseconds; `Int64.max` for none.
        var deadline: Int64
        private var views: [RecordKey: KeyView] = [:]
        /// The number of keys without a view.
        private var missing: Int

        init(keys: [RecordKey], deadline: Int64) {
            self.keys = keys
            self.deadline = deadline
            missing = Set(keys).count
        }

        /// Takes the view of one of the keys. Returns all views, in the order of the keys, if it was the last one. O(1), or O(keys) then.
        mutating func take(_ key: RecordKey, _ view: KeyView) -> [KeyView]? {
            if views.updateValue(view, forKey: key) == nil { missing -= 1 }
            return missing == 0 ? keys.compactMap { views[$0] } : nil
        }
    }

    /// By key.
    private var items: [RecordKey: Item] = [:]
    /// The keys in the order in which they were first requested, with some that have left.
    private var queue: [QueuePosition] = []
    private var lastSequence: Int64 = 0
    private var waiters: [CallerID: Waiter] = [:]
    /// The number of requests in flight.
    private(set) var underWay = 0

    var isEmpty: Bool { items.isEmpty }

    /// The keys in the order in which they were first requested.
    private var order: [RecordKey] { queue.compactMap { items[$0.key]?.sequence == $0.sequence ? $0.key : nil } }

    // MARK: Asking

    /// - Parameter mustBeNew: whether a request that is already in flight does not suffice.
    mutating func add(_ key: RecordKey, known: Entry?, lowerBound: Revision, waiter: CallerID?, mustBeNew: Bool = false) {
        if var item = items[key] {
            // A new caller wants the present value, so no caller gets an older response.
            item.lowerBound = max(item.lowerBound, lowerBound)
            item.isOwn = item.isOwn || waiter == nil
            if let waiter, mustBeNew, item.isUnderWay { item.nextWaiters.append(waiter) } else if let waiter { item.waiters.append(waiter) }
            items[key] = item
        } else {
            lastSequence += 1
            var item = Item(key: key, known: known, lowerBound: lowerBound, waiters: waiter.map { [$0] } ?? [])
            item.sequence = lastSequence
            item.isOwn = waiter == nil
            items[key] = item
            queue.append(QueuePosition(key: key, sequence: lastSequence))
        }
    }

    mutating func add(_ callerID: CallerID, keys: [RecordKey], deadline: Int64) {
        waiters[callerID] = Waiter(keys: keys, deadline: deadline)
    }

    mutating func update(_ key: RecordKey, _ change: (inout Item) -> Void) {
        guard var item = items[key] else { return }
        change(&item)
        items[key] = item
    }

    /// Raises the lower bound of the keys that are being read. O(keys being read) for an eviction of many, O(1) for a key.
    mutating func raise(_ scope: InvalidationScope, to revision: Revision) {
        if case .key(let key) = scope { return update(key) { $0.lowerBound = max($0.lowerBound, revision) } }
        for key in order where scope.contains(key) { update(key) { $0.lowerBound = max($0.lowerBound, revision) } }
    }

    subscript(key: RecordKey) -> Item? { items[key] }

    /// Marks these keys as requested.
    mutating func sent(_ keys: [RecordKey]) {
        underWay += 1
        for key in keys { update(key) { $0.isUnderWay = true } }
    }

    /// Marks these keys as no longer requested.
    mutating func requeue(_ keys: [RecordKey]) {
        underWay -= 1
        for key in keys { update(key) { $0.isUnderWay = false } }
    }

    /// Requests keys again whose responses were dropped before they were stored. Responses for `keys` are being stored.
    mutating func release(except keys: Set<RecordKey> = []) {
        for key in order where !keys.contains(key) { update(key) { $0.isUnderWay = false } }
    }

    /// Resets the lower bounds, since positions of another history mean nothing here.
    mutating func resetLowerBounds() { for key in order { update(key) { $0.lowerBound = .zero } } }

    /// Ends the waits of keys whose reads failed without contact, since the server can be reached again.
    mutating func regainContact() { for key in order where items[key]?.lacksContact == true { update(key) { $0.retry.hurry() } } }

    mutating func wake() {
        for key in order {
            update(key) {
                $0.retry.hurry()
                $0.attempts = 0
            }
        }
    }

    /// Returns the keys that can be requested now, oldest first.
    func ready(at uptime: Int64) -> [RecordKey] {
        order.filter { key in items[key].map { !$0.isUnderWay && $0.retry.notBefore <= uptime } ?? false }
    }

    func nextAttempt(after uptime: Int64) -> Int64? {
        order.compactMap { items[$0] }.filter { !$0.isUnderWay && $0.retry.notBefore > uptime }.map(\.retry.notBefore).min()
    }

    // MARK: Deadlines

    /// The earliest deadline of a caller. O(callers).
    var deadline: Int64? { waiters.values.lazy.map(\.deadline).filter { $0 < .max }.min() }

    /// Returns how long a request for these keys may take: at most as long as a caller waits for one of them; for the
    /// machine's own reads the usual timeout.
    func patience(for keys: some Sequence<RecordKey>, at uptime: Int64, _ settings: SyncSettings) -> Int64 {
        var end = uptime
        for item in keys.lazy.compactMap({ items[$0] }) {
            if item.isOwn { return settings.requestTimeout }
            for callerID in item.waiters { end = max(end, waiters[callerID]?.deadline ?? 0) }
        }
        return max(1, min(settings.requestTimeout, end - uptime))
    }

    /// Removes the callers whose deadline has passed. Returns their ids in order, each with the last failure of one
    /// of its keys.
    mutating func expire(at uptime: Int64) -> [(CallerID, SyncFailure?)] {
        let expired = waiters.filter { $0.value.deadline <= uptime }.sorted { $0.key < $1.key }
        return expired.map { callerID, waiter in
            let failure = waiter.keys.first { items[$0]?.failure != nil }.flatMap { items[$0]?.failure }
            abandon(callerID)
            return (callerID, failure)
        }
    }

    // MARK: Answering

    /// Completes the read of a key. Returns the callers for which it was the last key, with all their views.
    mutating func finish(_ key: RecordKey, _ view: KeyView) -> [(CallerID, [KeyView])] {
        guard let item = remove(key) else { return [] }
        var complete: [(CallerID, [KeyView])] = []
        for callerID in item.waiters {
            // In place: a copy of the waiter would copy the views that it has got so far.
            guard let views = waiters[callerID]?.take(key, view) else { continue }
            waiters[callerID] = nil
            complete.append((callerID, views))
        }
        return complete
    }

    /// Ends the failed read of a key. Returns its callers.
    mutating func fail(_ key: RecordKey) -> [CallerID] {
        guard let item = remove(key) else { return [] }
        let callerIDs = item.waiters.filter { waiters[$0] != nil }
        for callerID in callerIDs { abandon(callerID) }
        return callerIDs
    }

    /// Removes a caller. Keys that no other caller wants and that are not in flight are removed too.
    mutating func abandon(_ callerID: CallerID) {
        guard let waiter = waiters.removeValue(forKey: callerID) else { return }
        for key in waiter.keys {
            guard var item = items[key], item.waiters.contains(callerID) || item.nextWaiters.contains(callerID) else { continue }
            item.waiters.removeAll { $0 == callerID }
            item.nextWaiters.removeAll { $0 == callerID }
            items[key] = item
            if !item.isUnderWay { dropUnlessWanted(key) }
        }
    }

    /// Removes the key if neither a caller nor the machine wants it.
    mutating func dropUnlessWanted(_ key: RecordKey) {
        if let item = items[key], !item.isOwn, !item.hasCallers { _ = remove(key) }
    }

    /// Removes keys that only the machine wants and that are not in flight. O(keys being read).
    mutating func removeOwn(where isDone: (Item) -> Bool) {
        // No array of keys: it is called at each event.
        let done = items.values.filter { $0.isOwn && !$0.hasCallers && !$0.isUnderWay && isDone($0) }
        for item in done { _ = remove(item.key) }
    }

    /// Removes everything. Returns the ids of all callers, in order.
    mutating func removeAll() -> [CallerID] {
        let callerIDs = waiters.keys.sorted()
        self = ReadQueue()
        return callerIDs
    }

    private mutating func remove(_ key: RecordKey) -> Item? {
        defer {
            if queue.count > 2 * items.count + 16 { queue.removeAll { items[$0.key]?.sequence != $0.sequence } }
        }
        guard let item = items.removeValue(forKey: key) else { return nil }
        for waiter in item.nextWaiters { add(key, known: item.known, lowerBound: item.lowerBound, waiter: waiter) }
        return item
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) {
        for (sequence, key) in order.enumerated() {
            update(key) {
                $0.sequence = Int64(sequence)
                $0.retry.makeRelative(to: uptime)
            }
        }
        for (callerID, waiter) in waiters where waiter.deadline < .max { waiters[callerID]?.deadline -= uptime }
        // Both follow from the places.
        queue = []
        lastSequence = 0
    }
}
