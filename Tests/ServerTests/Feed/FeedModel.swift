import FreshetWire

@testable import FreshetServer

/// The feed in its simplest form: a log of every change ever made, which each question searches as a whole.
struct FeedModel {
    private(set) var log: [Change] = []
    private(set) var head: Int64 = 0
    /// The head after each commit.
    private var heads: [Int64] = []
    private var batches: [ClosedRange<Revision>] = []

    init() {}

    private init(log: [Change], head: Int64, batches: [ClosedRange<Revision>]) {
        (self.log, self.head, self.batches) = (log, head, batches)
    }

    mutating func commit(_ changes: [Change], batches: [ClosedRange<Revision>] = []) {
        log += changes
        self.batches += batches
        head = changes.last?.revision.number ?? head
        heads.append(head)
    }

    /// The latest change of each scope after a revision, in order, that the filter wants.
    func changes(after revision: Int64, _ subscription: Subscription) -> [Change] {
        var latest: [Subject: Int64] = [:]
        for change in log { latest[subject(change)] = change.revision.number }
        return log.filter { change in
            change.revision.number > revision && latest[subject(change)] == change.revision.number && wants(subscription, change.scope)
        }
        .map { subscription.values ? $0 : $0.withoutValue }
    }

    /// A record's changes replace each other, and so do invalidations of one scope.
    private func subject(_ change: Change) -> Subject {
        if case .invalidate(let scope) = change.effect { .invalidation(scope) } else { .record(change.scope) }
    }

    private enum Subject: Hashable {
        case record(InvalidationScope)
        case invalidation(InvalidationScope)
    }

    /// Whether a page answered the question at some time, and is marked as the last only if it still is.
    func hasBeen(_ page: ChangePage, after revision: Int64, _ subscription: Subscription) -> Bool {
        heads.contains { head in
            let earlier = FeedModel(log: log.filter { $0.revision.number <= head }, head: head, batches: batches)
            guard var then = earlier.page(after: revision, subscription) else { return false }
            if self.page(after: then.cursor.revision.number, subscription) != nil { then.upToDate = false }
            return then.changes == page.changes && then.cursor == page.cursor && (then.upToDate || !page.upToDate)
        }
    }

    /// The page that answers a question after a revision; `nil` if there is nothing.
    func page(after revision: Int64, _ subscription: Subscription) -> ChangePage? {
        let all = changes(after: revision, subscription)
        guard !all.isEmpty else { return nil }
        var count = min(subscription.limit, all.count)
        while subscription.limit > 1, count < all.count, areOneBatch(all[count - 1], all[count]) { count += 1 }
        let last = all[count - 1]
        let upToDate = count == all.count
        return ChangePage(
            changes: Array(all.prefix(count)),
            cursor: upToDate ? FeedSupport.cursor(head) : FeedSupport.cursor(last.revision.number, towards: head), upToDate: upToDate)
    }

    private func areOneBatch(_ first: Change, _ second: Change) -> Bool {
        batches.contains { $0.contains(first.revision) && $0.contains(second.revision) }
    }

    /// The filter's rule, written out independently of the code under test.
    private func wants(_ subscription: Subscription, _ scope: InvalidationScope) -> Bool {
        let collections = subscription.filter.collections
        let prefix = Array(subscription.filter.prefix.utf8)
        switch scope {
        case .everything: return true
        case .key(let key):
            return (collections.isEmpty || collections.contains(key.collection)) && Array(key.id.utf8).starts(with: prefix)
        case .collection(let collection, let invalidated):
            let invalidated = Array(invalidated.utf8)
            return (collections.isEmpty || collections.contains(collection))
                && (invalidated.starts(with: prefix) || prefix.starts(with: invalidated))
        }
    }
}
