package import FreshetWire

/// The reason why a caller does not get what it requested.
package enum SyncFailure: Error, Hashable, Sendable {
    /// The disk failed; nothing was stored or shown.
    case disk(DiskFailure)
    /// The value cannot take the operation, for example an increment of a text. The text states what would be right.
    case cannotApply(String)
    /// The record is not known, and the write must be compared with it: fetch the key first, or let the last writer win.
    case baseUnknown
    /// The rejected write that is to be retried or discarded is not on disk: it was retried, discarded or dropped already.
    case noRejection
    /// The server cannot be reached.
    case offline(TransportFailure)
    /// The server refused.
    indirect case refused(Problem)
    /// Every response was older than a state that this device has seen already. Try again later.
    case outdated
    /// The server's responses violate the protocol, as the text explains; check the URL, proxies and versions.
    case malformed(String)
    /// The response has more bytes than the client accepts, and so would the response to another request.
    case tooLarge(String)
    /// The cache was cleared during the call.
    case cleared
    /// The cache was closed.
    case stopped
}
