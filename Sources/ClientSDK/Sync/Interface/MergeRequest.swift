package import FreshetWire

/// A conflict for the user's closure.
package struct MergeRequest: Hashable, Sendable {
    package var writeID: LocalWriteID
    package var key: RecordKey
    package var name: MergeName
    /// The value that the user saw before writing; `nil` for no record.
    package var base: Content?
    /// The value that the user wrote; `nil` for a delete.
    package var mine: Content?
    /// The value on the server; `nil` for no record.
    package var theirs: Content?
    /// As in a ``RequestID``; to be returned with the answer.
    package var generation: Int64

    package init(
        writeID: LocalWriteID, key: RecordKey, name: MergeName, base: Content?, mine: Content?, theirs: Content?, generation: Int64 = 0
    ) {
        self.writeID = writeID
        self.key = key
        self.name = name
        self.base = base
        self.mine = mine
        self.theirs = theirs
        self.generation = generation
    }
}
