/// What happens to a write when someone else has changed the record since this device last saw it.
public enum OnConflict: Hashable, Sendable {
    /// The write takes effect whatever is there. The default.
    case lastWriterWins
    /// The write is rejected and rolled back; its verdict carries the record as it now is.
    case rejectIfChanged
    /// The collection's merge closure makes one value out of base, mine and theirs, which is written over what is there now.
    /// Give the closure to ``SyncClient/collection(_:of:merging:)``; being the collection's, it also serves writes of before a restart.
    case merge
}

/// The three values of a conflict.
public struct MergeConflict<Value: Sendable>: Sendable {
    /// The record's id in its collection.
    public var id: String
    /// What this device showed before it wrote; `nil`: no record.
    public var base: Value?
    /// What this device wants; `nil`: to remove it.
    public var mine: Value?
    /// What the server has now; `nil`: no record.
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
