import FreshetWire

@testable import FreshetServer

/// Short spellings for tests of the feed, whose waiters are numbers.
enum FeedSupport {
    static let epoch = Epoch(bits: 7)

    static func cursor(_ revision: Int64, epoch: Epoch = epoch) -> Cursor {
        Cursor(epoch: epoch, revision: FeedSupport.revision(revision))
    }

    /// The position of a page that is not the last, read when the head was this one.
    static func cursor(_ revision: Int64, towards head: Int64) -> Cursor {
        Cursor(epoch: epoch, revision: FeedSupport.revision(revision), goal: .head(FeedSupport.revision(head)))
    }

    static func revision(_ number: Int64) -> Revision { Revision(number) ?? .maximum }

    static func put(_ revision: Int64, _ key: String, _ value: String = "1") throws -> Change {
        let content = try Content(json: Array(value.utf8))
        return Change(
            revision: self.revision(revision),
            effect: .put(try RecordKey(key), content: content, contentType: content.type, size: content.bytes.count))
    }

    static func delete(_ revision: Int64, _ key: String) throws -> Change {
        Change(revision: self.revision(revision), effect: .delete(try RecordKey(key)))
    }

    static func sweep(_ revision: Int64, _ scope: InvalidationScope) -> Change {
        Change(revision: self.revision(revision), effect: .invalidate(scope))
    }

    static func subscription(
        _ collections: [String] = [], prefix: String = "", values: Bool = true, limit: Int = 1_000, stream: Bool = false
    ) throws -> Subscription {
        Subscription(
            filter: try ChangeFilter(collections: collections, prefix: prefix), values: values, limit: limit,
            delivery: stream ? .stream : .response)
    }
}

extension PollResult {
    /// The page as a message; `nil` for other replies.
    var page: ChangePage? {
        guard case .page(let page) = self else { return nil }
        return try? ChangePage(json: page.body)
    }
}

extension PollDecision {
    var page: ChangePage? {
        guard case .reply(let reply) = self else { return nil }
        return reply.page
    }

    var waiterID: WaiterID? {
        guard case .waiting(let id) = self else { return nil }
        return id
    }
}

extension FeedDelivery {
    /// The waiters and the pages that they get.
    var pages: (waiters: [Waiter], pages: [ChangePage])? {
        switch self {
        case .response(let waiters, let reply): reply.page.map { (waiters, [$0]) }
        case .push(let waiters, let page): (try? ChangePage(json: page.body)).map { (waiters, [$0]) }
        case .keepAlive, .resume, .close: nil
        }
    }
}
