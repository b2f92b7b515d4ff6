package import FreshetWire

/// The changes of one commit to a namespace, which the feed publishes.
package struct NamespaceCommit: Hashable, Sendable {
    package var namespace: Namespace
    /// The namespace's position before these changes, as the same transaction found it; in a new history, where that
    /// begins.
    package var base: Cursor
    /// The namespace's position after the commit.
    package var cursor: Cursor
    /// The changes in revision order, one for each revision after ``base``; a record that was written twice comes
    /// twice.
    package var changes: [Change]
    /// The revisions of each atomic batch that made two changes or more, in order.
    package var batches: [ClosedRange<Revision>]
    /// Whether the namespace began a new history before these changes: readers that wait with an old epoch get `410`.
    package var isReset: Bool
    /// The epoch of the history that ended; `nil` if none did, or if those of all namespaces ended.
    package var replaced: Epoch?

    package init(
        namespace: Namespace, base: Cursor, cursor: Cursor, changes: [Change], batches: [ClosedRange<Revision>] = [],
        isReset: Bool = false, replaced: Epoch? = nil
    ) {
        self.namespace = namespace
        self.base = base
        self.cursor = cursor
        self.changes = changes
        self.batches = batches
        self.isReset = isReset
        self.replaced = replaced
    }
}
