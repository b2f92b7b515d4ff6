package import FreshetWire

/// What a reader of the feed asked for. Readers with equal subscriptions share their answers' bytes.
package struct Subscription: Hashable, Sendable {
    /// How changes reach the reader.
    package enum Delivery: Hashable, Sendable {
        /// One answer, then the reader asks again.
        case answer
        /// One event after another until either side ends it.
        case stream
    }

    /// Which changes.
    package var filter: ChangeFilter
    /// Whether values come along.
    package var values: Bool
    /// The most changes in one page, at least 1. A page goes on beyond it to the end of an atomic batch, unless it is 1.
    package var limit: Int
    package var delivery: Delivery

    package init(filter: ChangeFilter = .all, values: Bool = true, limit: Int = 1_000, delivery: Delivery = .answer) {
        self.filter = filter
        self.values = values
        self.limit = max(limit, 1)
        self.delivery = delivery
    }
}
