/// The counts of a namespace other than those of its records. They are kept in the transactions that change them.
package struct NamespaceCounts: Hashable, Sendable {
    /// Deletes that are not forgotten yet.
    package var tombstones = 0
    /// Invalidations that are not forgotten yet, at most one for each scope.
    package var invalidations = 0
    /// Clients that have written under a number.
    package var clients = 0
    /// Outcomes of the clients' writes that are kept.
    package var outcomes = 0
    /// The bytes that the outcomes take.
    package var outcomeBytes = 0

    package init() {}
}

/// The totals of a store, over all namespaces.
package struct StoreTotals: Hashable, Sendable {
    package var namespaces = 0
    package var records = 0
    /// The bytes of the records' values.
    package var bytes = 0
    package var counts = NamespaceCounts()

    package init() {}
}
