/// The three values of a conflict.
///
/// They mean the same at each call. If the record changes once more while the merged value is in flight, the closure
/// is called again with the same ``base`` and ``mine`` and with the server's present value as ``theirs``. The result
/// of the earlier call is dropped, and is in none of the three. So a closure that applies the difference from ``base``
/// to ``mine`` to ``theirs`` applies it once, however often it runs:
///
/// ```swift
/// let logs = client.collection("logs", of: [String].self) { conflict in
///     // Appends the lines that this device has added to those that the server has now.
///     let added = (conflict.mine ?? []).dropFirst(conflict.base?.count ?? 0)
///     return .value((conflict.theirs ?? []) + added)
/// }
/// ```
public struct MergeConflict<Value: Sendable>: Sendable {
    /// The record's id in its collection.
    public var id: String
    /// The common ancestor, which this device showed when the user wrote; `nil`: no record.
    public var base: Value?
    /// The value that the user wrote over ``base``; `nil`: the record is to be removed.
    public var mine: Value?
    /// The server's value at this call; `nil`: no record.
    public var theirs: Value?

    /// Creates a conflict.
    public init(id: String, base: Value?, mine: Value?, theirs: Value?) {
        self.id = id
        self.base = base
        self.mine = mine
        self.theirs = theirs
    }
}
