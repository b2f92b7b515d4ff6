import FreshetWire

@testable import FreshetServer

/// What the feed must do, said in the plainest way: every change ever made, and a look through all of it for each question.
struct FeedModel {
    private(set) var log: [Change] = []
    private(set) var head: Int64 = 0

    mutating func commit(_ changes: [Change]) {
        log += changes
        head = changes.last?.revision.number ?? head
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

    /// A record's changes take each other's place, and so do invalidations of one scope.
    private func subject(_ change: Change) -> Subject {
        if case .invalidate(let scope) = change.effect { .invalidation(scope) } else { .record(change.scope) }
    }

    private enum Subject: Hashable {
        case record(InvalidationScope)
        case invalidation(InvalidationScope)
    }

    /// The page that answers a question after a revision; `nil` if there is nothing.
    func page(after revision: Int64, _ subscription: Subscription) -> ChangePage? {
        let all = changes(after: revision, subscription)
        guard let last = all.prefix(subscription.limit).last else { return nil }
        let upToDate = all.count <= subscription.limit
        return ChangePage(
            changes: Array(all.prefix(subscription.limit)),
            cursor: FeedSupport.cursor(upToDate ? head : last.revision.number), upToDate: upToDate)
    }

    /// The filter's rule written out anew, not that of the code under test.
    private func wants(_ subscription: Subscription, _ scope: InvalidationScope) -> Bool {
        let collections = subscription.filter.collections
        let prefix = Array(subscription.filter.prefix.utf8)
        switch scope {
        case .everything: return true
        case .key(let key):
            return (collections.isEmpty || collections.contains(key.collection)) && Array(key.id.utf8).starts(with: prefix)
        case .collection(let collection, let swept):
            let swept = Array(swept.utf8)
            return (collections.isEmpty || collections.contains(collection)) && (swept.starts(with: prefix) || prefix.starts(with: swept))
        }
    }
}
