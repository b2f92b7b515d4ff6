/// What a namespace holds beside its records. The counts are kept in the transactions that change them.
package struct NamespaceCounts: Hashable, Sendable {
    /// Deletes that are not forgotten yet.
    package var tombstones = 0
    /// Invalidations that are not forgotten yet, at most one for each scope.
    package var invalidations = 0
    /// Clients that have written under a number.
    package var clients = 0
    /// Outcomes of their writes that are kept.
    package var outcomes = 0
    /// How many bytes these take.
    package var outcomeBytes = 0

    package init() {}
}

/// What a store holds, over all namespaces.
package struct StoreTotals: Hashable, Sendable {
    package var namespaces = 0
    package var records = 0
    /// How many bytes their values have.
    package var bytes = 0
    package var counts = NamespaceCounts()

    package init() {}
}
