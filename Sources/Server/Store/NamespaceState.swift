package import FreshetWire

/// The state of a namespace: one row of the store, of the same snapshot as the answer that it comes with.
package struct NamespaceState: Hashable, Sendable {
    /// The token of the namespace's history. A namespace that no write has made yet has a token too, which its first
    /// write adopts.
    package var epoch: Epoch
    /// The last revision taken; zero before the first write.
    package var head: Revision
    /// The highest revision of a delete or an invalidation that compaction has forgotten; zero if none was.
    package var forgotten: Revision
    /// The number of records, deleted ones not counted.
    package var records: Int
    /// The bytes of the records' values.
    package var bytes: Int
    /// Where the history began; `nil` if it shares nothing with an earlier one for certain.
    package var lineage: Lineage?

    /// A namespace that no write has made yet.
    package init(unmade epoch: Epoch) {
        self.init(epoch: epoch, head: .zero, forgotten: .zero, records: 0, bytes: 0)
    }

    package init(epoch: Epoch, head: Revision, forgotten: Revision, records: Int, bytes: Int, lineage: Lineage? = nil) {
        self.lineage = lineage
        self.epoch = epoch
        self.head = head
        self.forgotten = forgotten
        self.records = records
        self.bytes = bytes
    }

    /// The position of this state.
    package var cursor: Cursor { Cursor(epoch: epoch, revision: head) }
}

/// An answer together with the state of the namespace that it reflects.
package struct Snapshot<Value> {
    package var value: Value
    package var state: NamespaceState
    /// The number of the client's last write that was decided in this state; 0 if none was, `nil` if no client was
    /// named.
    package var lastWrite: Int64?

    package init(_ value: Value, _ state: NamespaceState, lastWrite: Int64? = nil) {
        self.value = value
        self.state = state
        self.lastWrite = lastWrite
    }

    /// The position that the answer reflects: the `Freshet-Cursor` of the response.
    package var cursor: Cursor { state.cursor }
}

extension Snapshot: Sendable where Value: Sendable {}
extension Snapshot: Equatable where Value: Equatable {}
