import FreshetWire

/// An input that waits to become a ``TransactionPlan``.
enum QueuedInput: Hashable, Sendable {
    case page(ChangePage, since: Since, lastWrite: Int64?)
    case noChange(Cursor, since: Since, lastWrite: Int64?)
    case sets
    case results(WriteResults, lastWrite: Int64?)
    case fetched([Reader.KeyResponse], lastWrite: Int64?)
    /// The server's last number of this device, and the position at which it was the last.
    case reconcile(last: Int64, at: Cursor)
    case cachedKeysRevalidated([CachedKey], ReadsResponse, lastWrite: Int64?)
    case refreshed([CachedKey], ReadsResponse, lastWrite: Int64?)
    case revalidationFinished
    case merged(LocalWriteID, Resolution)
    case discard(LocalWriteID, CallerID)
    /// Binds the device to this store.
    case bind(StoreIdentifier)
    /// Restricts the subscription to a part of the earlier one.
    case narrow
    /// Renames the device, since another one has the same name and no further answer can come under that name.
    case rename
    /// Renames the device, since its name belongs to another principal and no write was sent under it.
    case leaveName

    /// The history of the response.
    var epoch: Epoch? {
        switch self {
        case .page(let page, _, _): page.cursor.epoch
        case .noChange(let cursor, _, _), .reconcile(_, let cursor): cursor.epoch
        case .results(let results, _): results.cursor.epoch
        case .fetched(let keyResponses, _): keyResponses.first?.cursor.epoch
        case .cachedKeysRevalidated(_, let response, _), .refreshed(_, let response, _): response.cursor.epoch
        case .revalidationFinished, .sets, .merged, .discard, .bind, .narrow, .rename, .leaveName: nil
        }
    }

    /// Whether the input came from the server, and is worthless after a reset or a clear.
    var isFromServer: Bool {
        switch self {
        case .page, .noChange, .results, .fetched, .reconcile, .cachedKeysRevalidated, .refreshed, .revalidationFinished, .leaveName: true
        case .sets, .merged, .discard, .bind, .narrow, .rename: false
        }
    }
}
