package import FreshetWire

/// A change of one field of ``SyncState``, so that a transaction writes only the fields that it decided.
package enum StateChange: Hashable, Sendable {
    case nextNumber(Int64)
    case nextWriteID(Int64)
    case epoch(Epoch?)
    case cursor(Cursor?)
    case completeAt(Timestamp?)
    case pass(Int64)
    case revalidation(SyncState.RevalidationPhase)
    case scope(String)
    case whole(ChangeFilter?)
    case floor(Cursor?)
    case mustReconcile(Bool)
    case droppedRejections(Int64)
    case store(StoreIdentifier)
    case renamesAfter(Int64)
    case client(ClientIdentifier)
    case principal(String?)
}
