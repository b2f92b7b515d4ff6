package import FreshetWire

/// A query for cached keys after a given key, in the order of the keys.
package struct CachedKeyQuery: Hashable, Sendable {
    package enum Selection: Hashable, Sendable {
        /// Rows with a lower pass than this.
        case before(pass: Int64)
        /// Rows with ``Entry/needsRefresh``.
        case needingRefresh
        /// The rows of a collection.
        case collection(String)
    }

    package var selection: Selection
    /// Selects only keys after this one, in the order of ``RecordKey``.
    package var after: RecordKey?
    package var limit: Int
    /// As in a ``RequestID``.
    package var generation: Int64

    package init(_ selection: Selection, after: RecordKey?, limit: Int, generation: Int64 = 0) {
        self.selection = selection
        self.after = after
        self.limit = limit
        self.generation = generation
    }
}
