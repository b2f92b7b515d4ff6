package import FreshetWire

/// Decides what a feed publishes, in which order, and when it has to read the store, if several servers write to one
/// store: a commit of this server may be based on commits of others that the feed has not seen.
///
/// A pure value. At most one read is in progress. The feed publishes nothing beyond a gap before a read has returned the
/// missing changes; the commits that it learns of meanwhile are kept as one position, since the store has their changes.
package struct CommitSequencer: Hashable, Sendable {
    /// What the feed does with a commit, or with the result of a read.
    package enum Step: Hashable, Sendable, CaseIterable {
        /// Nothing: the feed has these changes, or must not publish them yet.
        case ignore
        /// Publishes the changes above its head.
        case publish
        /// Begins the history of the new epoch.
        case reset
        /// Moves to the store's position without changes, which are more than one page: the store answers its readers.
        case skip
    }

    /// The latest position that the feed has learned of and that no read covers.
    private var target: Cursor?
    /// Whether the store has to be read even if the head has reached ``target``: one of another epoch was known before,
    /// and only the store knows which of the two is the later.
    private var mustRead = false
    /// The position for which the read in progress began.
    private var reading: Cursor?
    /// Whether the last read failed: the next one begins with ``retry()``.
    private var hasFailed = false

    package init() {}

    /// Whether the feed has learned of a position that it may not have reached.
    package var isBehind: Bool { target != nil || reading != nil }

    /// Takes a commit of this server.
    ///
    /// - Parameters:
    ///   - head: the feed's position.
    ///   - previous: the epoch of the feed before that of `head`, which has ended.
    package mutating func take(_ commit: NamespaceCommit, head: Cursor, previous: Epoch?) -> Step {
        guard commit.base.epoch == head.epoch else {
            // Whether an epoch is later than another follows from a commit that replaced the one by the other, or from
            // the store.
            if commit.isReset, commit.replaced.map({ $0 == head.epoch }) ?? true { return .reset }
            if commit.base.epoch != previous { note(commit.cursor) }
            return .ignore
        }
        guard commit.cursor.revision > head.revision else { return .ignore }
        guard commit.base.revision > head.revision else { return .publish }
        note(commit.cursor)
        return .ignore
    }

    /// Takes a position of the store that another server has announced. It may be wrong: only the store is believed.
    package mutating func note(_ announced: Cursor) {
        if let target {
            guard target.epoch == announced.epoch else {
                mustRead = true
                return
            }
            guard target.revision < announced.revision else { return }
        }
        target = announced
    }

    /// Requires a read, whatever the store's position.
    package mutating func requireRead(head: Cursor) {
        if target == nil { target = head }
        mustRead = true
    }

    /// Takes the result of the read in progress.
    package mutating func finish(_ read: FeedRead, head: Cursor, previous: Epoch?) -> Step {
        reading = nil
        let position = read.position
        if read.after.epoch == head.epoch {
            guard position.epoch == head.epoch else { return .reset }
            guard position.revision > head.revision else { return .ignore }
            return read.isComplete ? .publish : .skip
        }
        // The feed has begun another history meanwhile, so the changes do not follow its head.
        if position.epoch != previous { note(position) }
        return .ignore
    }

    /// The read in progress has failed. The feed stays where it is.
    package mutating func fail() {
        if let reading { requireRead(head: reading) }
        reading = nil
        hasFailed = true
    }

    /// Allows another read after a failure.
    package mutating func retry() { hasFailed = false }

    /// Returns the position after which the caller has to read the store, and counts that read as in progress; `nil` if
    /// there is nothing to read, or a read is in progress. Call it after each event, when the feed has carried out the
    /// step.
    package mutating func nextRead(head: Cursor, previous: Epoch?) -> Cursor? {
        guard let wanted = target else { return nil }
        guard mustRead || (wanted.epoch == head.epoch ? wanted.revision > head.revision : wanted.epoch != previous) else {
            target = nil
            return nil
        }
        guard reading == nil, !hasFailed else { return nil }
        (reading, target, mustRead) = (wanted, nil, false)
        return head
    }
}

/// Changes that a feed has read from the store.
package struct FeedRead: Hashable, Sendable {
    /// The position after which the feed has read.
    package var after: Cursor
    /// The store's position.
    package var position: Cursor
    /// The latest change of each record after ``after``, in revision order.
    package var changes: [Change]
    /// The revisions of each atomic batch, as far as they are among the changes.
    package var batches: [ClosedRange<Revision>]
    /// Whether these are all changes up to ``position``.
    package var isComplete: Bool
    /// Where the history of ``position`` began, if it is another than that of ``after``.
    package var lineage: Lineage?

    package init(
        after: Cursor, position: Cursor, changes: [Change] = [], batches: [ClosedRange<Revision>] = [], isComplete: Bool
    ) {
        self.after = after
        self.position = position
        self.changes = changes
        self.batches = batches
        self.isComplete = isComplete
    }
}

extension RecordStore {
    /// Reads the changes that a feed lacks, at most as many as it keeps in memory. May block on the disk.
    package func feedRead(after cursor: Cursor, in namespace: Namespace, _ limits: FeedLimits) throws(StoreError) -> FeedRead {
        var query = ChangeQuery(
            since: .after(cursor), limit: limits.changes, byteLimit: limits.bytes, inlineLimit: limits.inlineBytes, scanLimit: .max)
        query.statesBatches = true
        let snapshot = try changes(query, in: namespace)
        guard case .changes(let scanned) = snapshot.value else {
            var read = FeedRead(after: cursor, position: snapshot.cursor, isComplete: false)
            read.lineage = snapshot.state.lineage
            return read
        }
        return FeedRead(
            after: cursor, position: snapshot.cursor, changes: scanned.changes, batches: scanned.batches, isComplete: scanned.isComplete)
    }
}
