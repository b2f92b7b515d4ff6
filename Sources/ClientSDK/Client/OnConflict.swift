/// The handling of a write whose record someone else has changed since this device last saw it.
public enum OnConflict: Hashable, Sendable {
    /// The write takes effect in any case. The default.
    case lastWriterWins
    /// The write is rejected and rolled back; its outcome contains the present record.
    case rejectIfChanged
    /// The collection's merge closure makes one value out of base, mine and theirs, which replaces the server's
    /// present value. Give the closure to ``SyncClient/collection(_:of:merging:)``. The closure belongs to the
    /// collection, so it also serves writes from before a restart: these wait until the collection is opened with the
    /// closure again (``SyncClient/Status/missingMergeClosures``). Later writes to the record are sent after the
    /// merge.
    case merge
}

/// Makes one value out of three. It runs on a separate queue and delays only its own write. It may run several times,
/// once for each further change of the record, so its result must depend only on its argument. If it throws, or returns a
/// value that cannot be encoded, the write is rejected.
public typealias MergeClosure<Value: Sendable> = @Sendable (MergeConflict<Value>) throws -> Merged<Value>
