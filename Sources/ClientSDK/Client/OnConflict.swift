/// What happens to a write when someone else has changed the record since this device last saw it.
public enum OnConflict: Hashable, Sendable {
    /// The write takes effect whatever is there. The default.
    case lastWriterWins
    /// The write is rejected and rolled back; its verdict carries the record as it now is.
    case rejectIfChanged
    /// The collection's merge closure makes one value out of base, mine and theirs, which is written over what is there now.
    /// Give the closure to ``SyncClient/collection(_:of:merging:)``; being the collection's, it also serves writes of before a restart, which
    /// wait until the collection is opened with it again (``SyncClient/Status/missingMergeClosures``). Later writes to the record are sent behind
    /// the merge.
    case merge
}

/// The three values of a conflict.
///
/// They mean the same at each call. Where the record has changed once more while the merged value was on its way, the closure is called again
/// with the same ``base`` and ``mine`` and with the server's present value as ``theirs``; what it made at the earlier call is dropped, and is in
/// none of the three. So a closure that applies the difference from ``base`` to ``mine`` to ``theirs`` applies it once, however often it runs:
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
    /// The common ancestor: what this device showed when the user wrote; `nil`: no record.
    public var base: Value?
    /// What the user wrote over ``base``; `nil`: the record is to be removed.
    public var mine: Value?
    /// What the server has at this call; `nil`: no record.
    public var theirs: Value?

    /// A conflict.
    public init(id: String, base: Value?, mine: Value?, theirs: Value?) {
        self.id = id
        self.base = base
        self.mine = mine
        self.theirs = theirs
    }
}

/// What a merge closure makes of a conflict.
public enum Merged<Value: Sendable>: Sendable {
    /// This is written in both places' stead.
    case value(Value)
    /// The record is removed.
    case remove
    /// The server's value stays; this device's write counts as rejected.
    case takeTheirs
}

extension Merged: Equatable where Value: Equatable {}

/// Makes one value out of three. It runs on a queue of its own, holds nothing up but its own write, and may run several times, as
/// often as the record has changed again; so it decides by its arguments alone. One that throws has the write rejected.
public typealias MergeClosure<Value: Sendable> = @Sendable (MergeConflict<Value>) throws -> Merged<Value>
