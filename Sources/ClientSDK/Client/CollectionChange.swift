internal import FreshetPlatform
internal import FreshetWire

/// The changes of a collection since the previous element, by id. Records have no other order, so none moves.
public struct CollectionChange<Value: Sendable>: Sendable {
    /// Whether it is the first element of its sequence, with all records in ``inserted``.
    public var isInitial: Bool
    /// The new records. A record whose removal is pending counts as present, with ``Snapshot/exists`` false.
    public var inserted: [Snapshot<Value>]
    /// The records whose value or known state has changed. Their ``Snapshot/freshness`` is that of this moment;
    /// changes that affect the freshness of all records at once appear in ``SyncClient/status``.
    public var updated: [Snapshot<Value>]
    /// The ids of the records that were removed.
    public var removed: [String]
}

extension CollectionChange: Equatable where Value: Equatable {
    /// Compares ids by their bytes.
    public static func == (left: CollectionChange, right: CollectionChange) -> Bool {
        left.isInitial == right.isInitial && left.inserted == right.inserted && left.updated == right.updated
            && left.removed.elementsEqual(right.removed, by: ByteIdentity.areEqual)
    }
}
