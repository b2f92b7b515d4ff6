package import FreshetWire

/// A `PUT`, `PATCH` or `DELETE` of one record.
package struct SingleWrite: Hashable, Sendable {
    package var key: RecordKey
    package var operation: WriteOperation
    /// All must hold.
    package var preconditions: [Precondition]
    /// The device and the write's number, if the write takes part in exactly once.
    package var author: Change.Author?

    package init(key: RecordKey, operation: WriteOperation, preconditions: [Precondition] = [], author: Change.Author? = nil) {
        self.key = key
        self.operation = operation
        self.preconditions = preconditions
        self.author = author
    }
}

/// The result of a ``SingleWrite`` that was not rejected.
package struct SingleReceipt: Hashable, Sendable {
    /// The revision that the write took; `nil` for a numbered delete of a record that was not there, and for a settled number.
    package var revision: Revision?
    /// Whether the write made the record, hence `201`. Only the first answer to a number says so.
    package var created: Bool

    package init(revision: Revision?, created: Bool) {
        self.revision = revision
        self.created = created
    }
}
