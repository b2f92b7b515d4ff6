/// The handling of a write whose record someone else has changed since this device last saw it.
public enum OnConflict: Hashable, Sendable {
    /// The write takes effect in any case. The default.
    case lastWriterWins
    /// The write is rejected and rolled back; its verdict contains the present record.
    case rejectIfChanged
    /// The collection's merge closure makes one value out of base, mine and theirs, which replaces the server's
    /// present value. Give the closure to ``SyncClient/collection(_:of:merging:)``. The closure belongs to the
    /// collection, so it also serves writes from before a restart: these wait until the collection is opened with the
    /// closure again (``SyncClient/Status/missingMergeClosures``). Later writes to the record are sent after the
    /// merge.
    case merge
}

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

/// The result of a merge closure.
public enum Merged<Value: Sendable>: Sendable {
    /// This value replaces both.
    case value(Value)
    /// The record is removed.
    case remove
    /// The server's value stays; this device's write counts as rejected.
    case takeTheirs
}

extension Merged: Equatable where Value: Equatable {}

/// Makes one value out of three. It runs on a separate queue and delays only its own write. It may run several times,
/// once for each further change of the record, so its result must depend only on its argument. If it throws, the write
/// is rejected.
public typealias MergeClosure<Value: Sendable> = @Sendable (MergeConflict<Value>) throws -> Merged<Value>
