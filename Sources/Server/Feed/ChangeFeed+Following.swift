package import FreshetWire

/// The deliveries of an event, and the read that it needs, of a feed that may lack commits of other servers.
package struct FeedUpdate<Waiter: Sendable>: Sendable {
    package var deliveries: [FeedDelivery<Waiter>]
    /// The caller has to read the store after this position, away from the event loops, and to pass the result to
    /// ``ChangeFeed/finish(_:)`` or ``ChangeFeed/failRead()``. Always `nil` if one server alone writes.
    package var read: Cursor?

    package init(deliveries: [FeedDelivery<Waiter>], read: Cursor? = nil) {
        self.deliveries = deliveries
        self.read = read
    }
}

extension ChangeFeed {
    /// Publishes a commit of this server, as far as the feed has all commits before it; otherwise the store has to be
    /// read first. ``CommitSequencer`` has the rules.
    package mutating func publish(_ commit: NamespaceCommit) -> FeedUpdate<Waiter> {
        let deliveries: [FeedDelivery<Waiter>] =
            switch sequencer.take(commit, head: head, previous: previousEpoch) {
            case .publish: self.commit(commit.changes, batches: commit.batches, at: commit.cursor)
            case .reset: reset(to: commit.base) + self.commit(commit.changes, batches: commit.batches, at: commit.cursor)
            case .ignore, .skip: []
            }
        return FeedUpdate(deliveries: deliveries, read: nextRead())
    }

    /// Notes the store's position that another server has announced.
    ///
    /// - Returns: the position after which the store has to be read, if any.
    package mutating func note(announced position: Cursor) -> Cursor? {
        sequencer.note(position)
        return nextRead()
    }

    /// Requires a read of the store, whose position is not known.
    package mutating func requireRead() -> Cursor? {
        sequencer.requireRead(head: head)
        return nextRead()
    }

    /// Publishes the changes that were read from the store.
    package mutating func finish(_ read: FeedRead) -> FeedUpdate<Waiter> {
        let deliveries: [FeedDelivery<Waiter>] =
            switch sequencer.finish(read, head: head, previous: previousEpoch) {
            case .publish: commit(read.changes, batches: read.batches, at: read.position)
            case .reset: reset(to: read.position, read.lineage)
            case .skip: skip(to: read.position)
            case .ignore: []
            }
        return FeedUpdate(deliveries: deliveries, read: nextRead())
    }

    /// The read has failed; ``retryRead()`` begins another one.
    package mutating func failRead() { sequencer.fail() }

    /// Returns the position after which the store has to be read again, if the last read failed.
    package mutating func retryRead() -> Cursor? {
        sequencer.retry()
        return nextRead()
    }

    /// Whether the feed has learned of a position of the store that it may not have reached.
    package var isBehind: Bool { sequencer.isBehind }

    private mutating func nextRead() -> Cursor? { sequencer.nextRead(head: head, previous: previousEpoch) }

    /// Passes over changes that are not in memory. Polls are answered with their position and streams are closed: the
    /// store answers when they ask again.
    private mutating func skip(to position: Cursor) -> [FeedDelivery<Waiter>] {
        var deliveries: [FeedDelivery<Waiter>] = []
        for group in groups.numbers {
            guard let present = groups[group], present.target == nil else { continue }
            let waiters = take(group)
            if !waiters.isEmpty { deliveries.append(end(waiters, present.subscription, .idle(head))) }
        }
        head = position
        dropRecent()
        return deliveries + wakeGroupsAhead(within: limits.commitBytes)
    }
}

extension FeedUpdate: Equatable where Waiter: Equatable {}
