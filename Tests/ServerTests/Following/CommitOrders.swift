import FreshetWire
import Testing

@testable import FreshetServer

/// Two or three servers over one store, as pure values, and every order of their events: commits, their publication and
/// announcement, the arrival of each announcement (or its loss, or twice), and the two halves of each read.
///
/// At each server a client waits, asks again after each response, and keeps the revisions that it has received.
struct CommitOrders {
    /// What a commit does. Each puts one record, or begins a new history.
    enum Work: Hashable {
        case put(String)
        case reset
    }

    struct Commit: Hashable {
        var author: Int
        var work: Work
    }

    /// A server with its feed and its client. Two of them are equal if they behave alike from now on.
    struct Server {
        var feed: ChangeFeed<Int>
        /// The commits that it has made and not published, in order.
        var unpublished: [Int] = []
        /// A read that has not reached the store yet.
        var wanted: Cursor?
        /// A read that has left the store.
        var result: FeedRead?
        /// Where the client stands.
        var position: Cursor
        /// The revisions that the client has received in the present epoch.
        var received: [Int64] = []
    }

    private enum Announcement: Hashable { case none, fresh, copy }

    private enum Move: Hashable {
        case commit
        case publish(Int)
        case arrive(Int, isKept: Bool)
        case lose(Int)
        case read(Int)
        case finish(Int)
    }

    private struct Key: Hashable {
        struct Server: Hashable {
            var head: Cursor
            var sequencer: CommitSequencer
            var unpublished: [Int]
            var wanted: Cursor?
            var result: FeedRead?
            var position: Cursor
            var received: [Int64]
        }

        var committed: Int
        var servers: [Server]
        var announcements: [Announcement]
        var hasLost: Bool
    }

    /// How many orders there are, and how many distinct states they pass through.
    struct Count: Equatable {
        var orders: Int
        var states: Int
    }

    private static let epochs = [Epoch(bits: 1), Epoch(bits: 2)]

    private let commits: [Commit]
    private let namespace: Namespace
    private var committed = 0
    private var servers: [Server]
    /// For each commit and receiver.
    private var announcements: [Announcement]
    private var hasLost = false

    init(_ commits: [Commit], servers count: Int) throws {
        self.commits = commits
        namespace = try Namespace("shop")
        let start = Cursor(epoch: Self.epochs[0], revision: .zero)
        var server = Server(feed: ChangeFeed(position: start), position: start)
        _ = server.feed.ask(.after(start), Subscription(), waiter: 1, deadline: nil, now: 0)
        servers = Array(repeating: server, count: count)
        announcements = Array(repeating: .none, count: commits.count * count)
    }

    func count() -> Count {
        var known: [Key: Int] = [:]
        let orders = count(&known)
        return Count(orders: orders, states: known.count)
    }

    private func count(_ known: inout [Key: Int]) -> Int {
        let key = key
        if let count = known[key] { return count }
        checkPrefix()
        let moves = moves
        if moves.isEmpty { checkEnd() }
        let count =
            moves.isEmpty
            ? 1
            : moves.reduce(0) { sum, move in
                var next = self
                next.take(move)
                return sum + next.count(&known)
            }
        known[key] = count
        return count
    }

    private var key: Key {
        Key(
            committed: committed,
            servers: servers.map {
                Key.Server(
                    head: $0.feed.head, sequencer: $0.feed.sequencer, unpublished: $0.unpublished, wanted: $0.wanted, result: $0.result,
                    position: $0.position, received: $0.received)
            }, announcements: announcements, hasLost: hasLost)
    }

    private var moves: [Move] {
        var moves: [Move] = committed < commits.count ? [.commit] : []
        for number in servers.indices {
            if !servers[number].unpublished.isEmpty { moves.append(.publish(number)) }
            if servers[number].wanted != nil { moves.append(.read(number)) }
            if servers[number].result != nil { moves.append(.finish(number)) }
        }
        for place in announcements.indices {
            switch announcements[place] {
            case .none: break
            case .fresh: moves += [.arrive(place, isKept: false), .arrive(place, isKept: true), .lose(place)]
            case .copy: moves.append(.arrive(place, isKept: false))
            }
        }
        return moves
    }

    private mutating func take(_ move: Move) {
        switch move {
        case .commit:
            servers[commits[committed].author].unpublished.append(committed)
            committed += 1
        case .publish(let number):
            let commit = servers[number].unpublished.removeFirst()
            let published = namespaceCommit(commit)
            update(number) { $0.publish(published) }
            for receiver in servers.indices where receiver != number { announcements[commit * servers.count + receiver] = .fresh }
        case .arrive(let place, let isKept):
            announcements[place] = isKept ? .copy : .none
            let position = position(after: place / servers.count + 1)
            update(place % servers.count) { FeedUpdate(deliveries: [], read: $0.note(announced: position)) }
        case .lose(let place):
            announcements[place] = .none
            hasLost = true
        case .read(let number):
            guard let after = servers[number].wanted else { return }
            servers[number].wanted = nil
            servers[number].result = read(after: after)
        case .finish(let number):
            guard let result = servers[number].result else { return }
            servers[number].result = nil
            update(number) { $0.finish(result) }
        }
    }

    private mutating func update(_ number: Int, _ event: (inout ChangeFeed<Int>) -> FeedUpdate<Int>) {
        let update = event(&servers[number].feed)
        if let after = update.read {
            if servers[number].wanted != nil || servers[number].result != nil { Issue.record("two reads at once") }
            servers[number].wanted = after
        }
        for delivery in update.deliveries {
            guard case .response(_, let reply) = delivery else { continue }
            receive(reply, number)
        }
    }

    /// The client takes a response, and asks again.
    private mutating func receive(_ reply: PollResult, _ number: Int) {
        var isVerified = false
        switch reply {
        case .page(let page):
            for change in reply.page?.changes ?? [] {
                if change.revision.number <= servers[number].received.last ?? 0 { Issue.record("twice, or out of order") }
                servers[number].received.append(change.revision.number)
            }
            if page.cursor.revision < servers[number].position.revision { Issue.record("the cursor falls") }
            servers[number].position = page.cursor
        case .gone(_, let position):
            #expect(position.epoch != servers[number].position.epoch, "an end of the epoch that goes on")
            // It starts again, from the store.
            let all = read(after: Cursor(epoch: self.position(after: committed).epoch, revision: .zero))
            servers[number].received = all.changes.map(\.revision.number)
            servers[number].position = all.position
            isVerified = true
        case .idle, .ended: Issue.record("\(reply)")
        }
        let decision = servers[number].feed.ask(
            .after(servers[number].position), Subscription(), waiter: 1, isVerified: isVerified, deadline: nil, now: 0)
        switch decision {
        case .waiting: break
        case .reply(let reply): receive(reply, number)
        case .scan: Issue.record("the feed lost its position \(servers[number].position), at \(servers[number].feed.head)")
        }
    }

    // MARK: The store

    private func position(after count: Int) -> Cursor {
        let last = commits[..<count].lastIndex { $0.work == .reset }
        let epoch = Self.epochs[last == nil ? 0 : 1]
        return Cursor(epoch: epoch, revision: Revision(Int64(count - (last.map { $0 + 1 } ?? 0))) ?? .maximum)
    }

    private func change(_ commit: Int) -> Change? {
        guard case .put(let key) = commits[commit].work else { return nil }
        return try? FeedSupport.put(position(after: commit + 1).revision.number, key)
    }

    private func namespaceCommit(_ commit: Int) -> NamespaceCommit {
        let (base, cursor) = (position(after: commit), position(after: commit + 1))
        guard let change = change(commit) else {
            return NamespaceCommit(
                namespace: namespace, base: cursor, cursor: cursor, changes: [], isReset: true, replaced: base.epoch)
        }
        return NamespaceCommit(namespace: namespace, base: base, cursor: cursor, changes: [change])
    }

    /// The latest change of each record after a position, among those that are committed now.
    private func read(after cursor: Cursor) -> FeedRead {
        let head = position(after: committed)
        guard cursor.epoch == head.epoch else { return FeedRead(after: cursor, position: head, isComplete: false) }
        let history = (0..<committed).filter { position(after: $0 + 1).epoch == head.epoch }
        let latest = history.filter { commit in
            position(after: commit + 1).revision > cursor.revision
                && !history.contains { $0 > commit && commits[$0].work == commits[commit].work }
        }
        return FeedRead(after: cursor, position: head, changes: latest.compactMap(change), isComplete: true)
    }

    // MARK: Checks

    /// Each client has every revision up to its feed's head, but for those that the store had replaced.
    private func checkPrefix() {
        for server in servers {
            let history = (0..<committed).filter { position(after: $0 + 1).epoch == server.feed.head.epoch && commits[$0].work != .reset }
            for commit in history where position(after: commit + 1).revision <= server.feed.head.revision {
                let isThere = server.received.contains(position(after: commit + 1).revision.number)
                let isReplaced = history.contains { $0 > commit && commits[$0].work == commits[commit].work }
                if !isThere, !isReplaced, server.position.epoch == server.feed.head.epoch { Issue.record("a change was skipped") }
            }
        }
    }

    /// Every feed, and so every client, has all that the store has: at once if no announcement was lost, else after a
    /// reconciliation.
    private func checkEnd() {
        var world = self
        let head = position(after: commits.count)
        for number in servers.indices {
            if hasLost {
                world.update(number) { FeedUpdate(deliveries: [], read: $0.note(announced: head)) }
                world.take(.read(number))
                world.take(.finish(number))
            }
            let server = world.servers[number]
            if server.feed.head != head || server.position != head { Issue.record("\(server.feed.head), \(server.position), \(head)") }
            let all = read(after: Cursor(epoch: head.epoch, revision: .zero)).changes.map(\.revision.number)
            if !Set(all).isSubset(of: server.received) { Issue.record("the client lacks a change") }
            if server.feed.sequencer.isBehind { Issue.record("the feed waits for a read") }
            var feed = server.feed
            let floor = Cursor(epoch: head.epoch, revision: feed.floor)
            let page = feed.ask(.after(floor), Subscription(), waiter: 2, deadline: 0, now: 0).page
            let latest = read(after: floor).changes.map(\.revision.number)
            if (page?.changes ?? []).map(\.revision.number) != latest { Issue.record("the feed has other changes than the store") }
        }
    }
}
