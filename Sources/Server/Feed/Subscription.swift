package import FreshetWire

/// A reader's request to the feed. Readers with equal subscriptions share the bytes of their answers.
package struct Subscription: Hashable, Sendable {
    /// How changes reach the reader.
    package enum Delivery: Hashable, Sendable {
        /// One answer, then the reader asks again.
        case response
        /// One event after another until either side ends it.
        case stream
    }

    /// The changes that the reader wants.
    package var filter: ChangeFilter
    /// Whether changes carry their values.
    package var values: Bool
    /// The most changes in one page, at least 1. A page continues beyond the limit to the end of an atomic batch,
    /// unless the limit is 1.
    package var limit: Int
    package var delivery: Delivery
    /// The part of the feed that the reader may read; `nil` for everything. Then ``filter`` covers it.
    package var part: ReadablePart?

    package init(filter: ChangeFilter = .all, values: Bool = true, limit: Int = 1_000, delivery: Delivery = .response) {
        self.filter = filter
        self.values = values
        self.limit = max(limit, 1)
        self.delivery = delivery
    }

    /// Whether the reader wants the changes of a scope, and may read them.
    package func matches(_ scope: InvalidationScope) -> Bool { part?.matches(scope) ?? filter.matches(scope) }
}
