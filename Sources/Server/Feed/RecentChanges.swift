import DequeModule
package import FreshetWire

/// The latest change of each record that changed after ``floor``, in revision order, encoded once.
///
/// A later change of a record replaces the earlier one, so a record that is written without pause never pushes the
/// others out. The oldest changes are removed when there are too many or too large ones, and the floor rises over them.
package struct RecentChanges: Sendable {
    /// The subject that a later change replaces: the record's value or absence, or the invalidation of a scope. As in
    /// the store, an invalidation does not replace a record's change, nor the other way round.
    private struct Subject: Hashable, Sendable {
        let scope: InvalidationScope
        let isInvalidation: Bool

        init(_ change: Change) {
            scope = change.scope
            if case .invalidate = change.effect { isInvalidation = true } else { isInvalidation = false }
        }
    }

    private struct Entry: Sendable {
        let revision: Revision
        /// The first revision of its atomic batch; its own outside of one.
        let firstOfBatch: Revision
        let subject: Subject
        let cost: Int
        /// `nil` once a later change has replaced it.
        var change: Change?
        /// The encoded change; once it is there, ``change`` carries no value any more.
        var full: [UInt8]?
        var brief: [UInt8]?
    }

    private let limits: FeedLimits
    private var entries = Deque<Entry>()
    private var latest: [Subject: Revision] = [:]
    private var superseded = 0
    package private(set) var bytes = 0
    /// Everything after this revision is here.
    package private(set) var floor: Revision

    package init(floor: Revision, limits: FeedLimits) {
        self.floor = floor
        self.limits = limits
    }

    /// The number of changes here.
    package var count: Int { entries.count - superseded }

    /// Appends a change that is later than all others. O(log n). Call ``trim()`` once the change's readers have been
    /// served.
    ///
    /// - Parameter firstOfBatch: the first revision of the atomic batch that it belongs to, if any.
    package mutating func append(_ change: Change, firstOfBatch: Revision? = nil) {
        let subject = Subject(change)
        if let earlier = latest.updateValue(change.revision, forKey: subject) { supersede(earlier) }
        var change = change
        if case .put(_, let content?, _, _) = change.effect, content.bytes.count > limits.inlineBytes { change = change.withoutValue }
        let cost = Self.cost(of: change)
        entries.append(
            Entry(
                revision: change.revision, firstOfBatch: firstOfBatch ?? change.revision, subject: subject, cost: cost, change: change))
        bytes += cost
    }

    /// Removes the oldest changes until the limits are met. O(1) a change, amortised.
    package mutating func trim() {
        while count > limits.changes || bytes > limits.bytes, !entries.isEmpty { removeOldest() }
        if superseded > 64, superseded > entries.count / 2 {
            entries.removeAll { $0.change == nil }
            superseded = 0
        }
    }

    /// The places of the changes after `revision`, which must not be below ``floor``; some may be empty.
    package func places(after revision: Revision) -> Range<Int> {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].revision <= revision { low = middle + 1 } else { high = middle }
        }
        return low..<entries.count
    }

    /// The scope of the change at a place; `nil` if a later one has replaced it.
    package func scope(at place: Int) -> InvalidationScope? { entries[place].change == nil ? nil : entries[place].subject.scope }

    package func revision(at place: Int) -> Revision { entries[place].revision }

    /// Whether the changes at two places, the earlier one first, are of the same atomic batch. O(1)
    package func isOneBatch(_ earlier: Int, _ place: Int) -> Bool { entries[place].firstOfBatch <= entries[earlier].revision }

    /// The change at a place as JSON, encoded at the first use; `nil` if a later one has replaced it.
    package mutating func json(at place: Int, values: Bool) -> [UInt8]? {
        guard let change = entries[place].change else { return nil }
        guard case .put = change.effect, values else {
            if let json = entries[place].brief { return json }
            let json = change.withoutValue.json
            entries[place].brief = json
            return json
        }
        if let json = entries[place].full { return json }
        let json = change.json
        entries[place].full = json
        // The bytes are in the JSON now; a second copy is not needed.
        entries[place].change = change.withoutValue
        return json
    }

    /// The change at a place as a reader of the part may see it, each as JSON; empty if a later one has replaced it.
    package mutating func json(at place: Int, values: Bool, for part: ReadablePart?) -> [[UInt8]] {
        if let part, let change = entries[place].change, case .invalidate = change.effect {
            return change.restricted(to: part).map(\.json)
        }
        return json(at: place, values: values).map { [$0] } ?? []
    }

    private mutating func supersede(_ revision: Revision) {
        let place = places(after: revision).lowerBound - 1
        guard place >= 0, entries[place].revision == revision, entries[place].change != nil else { return }
        bytes -= entries[place].cost
        entries[place].change = nil
        entries[place].full = nil
        entries[place].brief = nil
        superseded += 1
    }

    private mutating func removeOldest() {
        let oldest = entries.removeFirst()
        guard oldest.change != nil else {
            // The change that replaced this one is still here: nothing is lost below the floor.
            superseded -= 1
            return
        }
        floor = oldest.revision
        bytes -= oldest.cost
        latest[oldest.subject] = nil
    }

    /// The approximate bytes of a change, which is stored in two places of this structure.
    private static func cost(of change: Change) -> Int {
        guard case .put(let key, let content, _, _) = change.effect else { return 512 }
        return 512 + 2 * key.id.utf8.count + (content?.bytes.count ?? 0)
    }
}
