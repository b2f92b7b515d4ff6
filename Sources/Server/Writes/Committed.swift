package import FreshetWire

/// The result of a submission, on disk by the time that anyone sees it.
package struct Committed<Value: Sendable>: Sendable {
    /// The result, or why there is none.
    package var result: Result<Value, Problem>
    /// The position after the commit, for `Freshet-Cursor`; `nil` if nothing could be read, as in an overload or with a
    /// full disk.
    package var cursor: Cursor?
    /// The number of the client's last write that is decided at that position; only of a batch.
    package var lastWrite: Int64?

    package init(_ result: Result<Value, Problem>, _ cursor: Cursor?, lastWrite: Int64? = nil) {
        self.result = result
        self.cursor = cursor
        self.lastWrite = lastWrite
    }
}
