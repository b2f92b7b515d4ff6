import FreshetWire

/// The keys that are being read: their callers, the maximum age of a response, and the time of the next attempt.
struct ReadQueue: Hashable, Sendable {
    /// One key that is being read, for all its callers.
    struct Item: Hashable, Sendable {
        var key: RecordKey
        /// The key's place in the order of the first requests.
        fileprivate(set) var place: Int64 = 0
        /// The device's record at the time of the request.
        var known: Entry?
        /// A response that reflects an earlier position is dropped (rule 4).
        var floor: Revision
        /// The waiting callers.
        var askers: [Token]
        /// Callers that came while a request was in flight and want the response to a later one.
        var later: [Token] = []
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

        var hasCallers: Bool { !askers.isEmpty || !later.isEmpty }
    }

    private struct Place: Hashable, Sendable {
        var key: RecordKey
        var place: Int64
    }

    /// A caller with the views that it has got so far.
    private struct Asker: Hashable, Sendable {
        var keys: [RecordKey]
        /// Uptime in milliseconds; `Int64.max` for none.
        var deadline: Int64
        var views: [RecordKey: KeyView] = [:]
    }

    /// By key.
    private var items: [RecordKey: Item] = [:]
    /// The keys in the order in which they were first requested, with some that have left.
    private var line: [Place] = []
    private var lastPlace: Int64 = 0
    private var askers: [Token: Asker] = [:]
    /// The number of requests in flight.
    private(set) var underWay = 0

    var isEmpty: Bool { items.isEmpty }

    /// The keys in the order in which they were first requested.
    private var order: [RecordKey] { line.compactMap { items[$0.key]?.place == $0.place ? $0.key : nil } }

    // MARK: Asking

    /// - Parameter mustBeNew: whether a request that is already in flight does not suffice.
    mutating func add(_ key: RecordKey, known: Entry?, floor: Revision, asker: Token?, mustBeNew: Bool = false) {
        if var item = items[key] {
            // A new caller wants the present value, so no caller gets an older response.
            item.floor = max(item.floor, floor)
            item.isOwn = item.isOwn || asker == nil
            if let asker, mustBeNew, item.isUnderWay { item.later.append(asker) } else if let asker { item.askers.append(asker) }
            items[key] = item
        } else {
            lastPlace += 1
            var item = Item(key: key, known: known, floor: floor, askers: asker.map { [$0] } ?? [])
            item.place = lastPlace
            item.isOwn = asker == nil
            items[key] = item
            line.append(Place(key: key, place: lastPlace))
        }
    }

    mutating func add(_ token: Token, keys: [RecordKey], deadline: Int64) { askers[token] = Asker(keys: keys, deadline: deadline) }

    mutating func update(_ key: RecordKey, _ change: (inout Item) -> Void) {
        guard var item = items[key] else { return }
        change(&item)
        items[key] = item
    }

    /// Raises the floor of the keys that are being read. O(keys being read) for a sweep, O(1) for a key.
    mutating func raise(_ scope: InvalidationScope, to revision: Revision) {
        if case .key(let key) = scope { return update(key) { $0.floor = max($0.floor, revision) } }
        for key in order where scope.contains(key) { update(key) { $0.floor = max($0.floor, revision) } }
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

    /// Resets the floors, since positions of another history mean nothing here.
    mutating func forgetFloors() { for key in order { update(key) { $0.floor = .zero } } }

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
    var deadline: Int64? { askers.values.lazy.map(\.deadline).filter { $0 < .max }.min() }

    /// Returns how long a request for these keys may take: at most as long as a caller waits for one of them; for the
    /// machine's own reads the usual timeout.
    func patience(for keys: some Sequence<RecordKey>, at uptime: Int64, _ settings: SyncSettings) -> Int64 {
        var end = uptime
        for item in keys.lazy.compactMap({ items[$0] }) {
            if item.isOwn { return settings.requestTimeout }
            for token in item.askers { end = max(end, askers[token]?.deadline ?? 0) }
        }
        return max(1, min(settings.requestTimeout, end - uptime))
    }

    /// Removes the callers whose deadline has passed. Returns their tokens in order, each with the last failure of one
    /// of its keys.
    mutating func expire(at uptime: Int64) -> [(Token, SyncFailure?)] {
        let expired = askers.filter { $0.value.deadline <= uptime }.sorted { $0.key < $1.key }
        return expired.map { token, asker in
            let failure = asker.keys.first { items[$0]?.failure != nil }.flatMap { items[$0]?.failure }
            abandon(token)
            return (token, failure)
        }
    }

    // MARK: Answering

    /// Completes the read of a key. Returns the callers for which it was the last key, with all their views.
    mutating func finish(_ key: RecordKey, _ view: KeyView) -> [(Token, [KeyView])] {
        guard let item = remove(key) else { return [] }
        var complete: [(Token, [KeyView])] = []
        for token in item.askers {
            guard var asker = askers[token] else { continue }
            asker.views[key] = view
            if asker.keys.allSatisfy({ asker.views[$0] != nil }) {
                askers[token] = nil
                complete.append((token, asker.keys.compactMap { asker.views[$0] }))
            } else {
                askers[token] = asker
            }
        }
        return complete
    }

    /// Ends the failed read of a key. Returns its callers.
    mutating func fail(_ key: RecordKey) -> [Token] {
        guard let item = remove(key) else { return [] }
        let tokens = item.askers.filter { askers[$0] != nil }
        for token in tokens { abandon(token) }
        return tokens
    }

    /// Removes a caller. Keys that no other caller wants and that are not in flight are removed too.
    mutating func abandon(_ token: Token) {
        guard let asker = askers.removeValue(forKey: token) else { return }
        for key in asker.keys {
            guard var item = items[key], item.askers.contains(token) || item.later.contains(token) else { continue }
            item.askers.removeAll { $0 == token }
            item.later.removeAll { $0 == token }
            items[key] = item
            if !item.isUnderWay { dropUnlessWanted(key) }
        }
    }

    /// Removes the key if neither a caller nor the machine wants it.
    mutating func dropUnlessWanted(_ key: RecordKey) {
        if let item = items[key], !item.isOwn, !item.hasCallers { _ = remove(key) }
    }

    /// Removes everything. Returns the tokens of all callers, in order.
    mutating func removeAll() -> [Token] {
        let tokens = askers.keys.sorted()
        self = ReadQueue()
        return tokens
    }

    private mutating func remove(_ key: RecordKey) -> Item? {
        defer {
            if line.count > 2 * items.count + 16 { line.removeAll { items[$0.key]?.place != $0.place } }
        }
        guard let item = items.removeValue(forKey: key) else { return nil }
        for asker in item.later { add(key, known: item.known, floor: item.floor, asker: asker) }
        return item
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) {
        for (place, key) in order.enumerated() {
            update(key) {
                $0.place = Int64(place)
                $0.retry.makeRelative(to: uptime)
            }
        }
        for (token, asker) in askers where asker.deadline < .max { askers[token]?.deadline -= uptime }
        // Both follow from the places.
        line = []
        lastPlace = 0
    }
}
