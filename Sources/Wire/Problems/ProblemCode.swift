/// The kind of a problem: the last part of `urn:freshet:problem:<code>`. Codes that a reader does not know stay as they
/// are.
public struct ProblemCode: Hashable, Sendable, CustomStringConvertible {
    /// The code, for example `not-found`.
    public let text: String
    /// The status that goes with it.
    public let status: Int
    /// A few words for people, the same for every problem of the kind.
    public let title: String

    private init(_ text: String, _ status: Int, _ title: String) {
        self.text = text
        self.status = status
        self.title = title
    }

    /// There is no such record, namespace or path.
    public static let notFound = ProblemCode("not-found", 404, "Not found")
    /// `If-Match`, `If-None-Match` or `ifRevision` did not hold; `current` is the record as it now is.
    public static let preconditionFailed = ProblemCode("precondition-failed", 412, "The record has changed")
    /// The body is not well-formed JSON, or not the JSON that belongs here.
    public static let invalidJSON = ProblemCode("invalid-json", 400, "Invalid JSON")
    /// A namespace, collection, id or client is not named as the rules say.
    public static let invalidKey = ProblemCode("invalid-key", 400, "Invalid name")
    /// `since` is no cursor.
    public static let invalidCursor = ProblemCode("invalid-cursor", 400, "Invalid cursor")
    /// A parameter or a field is out of range or not understood.
    public static let invalidRequest = ProblemCode("invalid-request", 400, "Invalid request")
    /// An increment's sum is outside its `min` and `max`, or beyond the range of numbers; `current` is the record as it is.
    public static let outOfBounds = ProblemCode("out-of-bounds", 409, "The sum is out of bounds")
    /// Deletes after this cursor have been forgotten: start again from a list.
    public static let cursorExpired = ProblemCode("cursor-expired", 410, "The cursor is too old")
    /// The namespace has begun a new history: start again from a list.
    public static let epochChanged = ProblemCode("epoch-changed", 410, "The namespace has a new epoch")
    /// The cursor is past the newest change: start again from a list.
    public static let cursorAhead = ProblemCode("cursor-ahead", 410, "The cursor is ahead of the server")
    /// The cursor was given under other rights: verify everything that is cached, or start again from a list.
    public static let rightsChanged = ProblemCode("rights-changed", 410, "The rights of the reader have changed")
    /// A write's number skips one; `expected` is the number that comes next.
    public static let writeGap = ProblemCode("write-gap", 409, "A write is missing before this one")
    /// The client's number was decided for another write, which had another `nonce`: this one had no effect.
    public static let numberTaken = ProblemCode("number-taken", 409, "The number belongs to another write")
    /// The client's name belongs to another principal: nothing was done, and no number was used.
    public static let clientTaken = ProblemCode("client-taken", 403, "The client name belongs to another principal")
    /// An atomic batch failed because of another of its writes.
    public static let batchRejected = ProblemCode("batch-rejected", 409, "Another write of the atomic batch was rejected")
    /// The value, the header or the URI is over the limit that the detail names.
    public static let tooLarge = ProblemCode("too-large", 413, "Too large")
    /// The media type is not taken here.
    public static let unsupportedMediaType = ProblemCode("unsupported-media-type", 415, "Unsupported media type")
    /// The method is not allowed here; `Allow` lists those that are.
    public static let methodNotAllowed = ProblemCode("method-not-allowed", 405, "Method not allowed")
    /// A token is missing or not valid.
    public static let unauthorized = ProblemCode("unauthorized", 401, "Unauthorized")
    /// The token does not allow this, or a page of another origin asks.
    public static let forbidden = ProblemCode("forbidden", 403, "Forbidden")
    /// The request names a host that the server does not answer for.
    public static let misdirectedRequest = ProblemCode("misdirected-request", 421, "Misdirected request")
    /// The requests of the address or principal exceed a rate: nothing was done; come back after `Retry-After`.
    public static let tooManyRequests = ProblemCode("too-many-requests", 429, "Too many requests")
    /// The server has too much work in progress; come back after `Retry-After`.
    public static let overloaded = ProblemCode("overloaded", 503, "Overloaded")
    /// The server is stopping, or cannot reach its store; come back after `Retry-After`.
    public static let unavailable = ProblemCode("unavailable", 503, "Unavailable")
    /// The store did not say whether it has committed: everything was done or nothing. A numbered write is sent again under
    /// its number after `Retry-After`; before any other, read the record.
    public static let outcomeUnknown = ProblemCode("outcome-unknown", 503, "The outcome is unknown")
    /// The disk is full: nothing was stored.
    public static let storageFull = ProblemCode("storage-full", 507, "The disk is full")
    /// A quota of the namespace is used up: nothing was stored, and no number was used. Deletes still are.
    public static let quotaExceeded = ProblemCode("quota-exceeded", 507, "A quota of the namespace is used up")
    /// The store failed: nothing was stored.
    public static let storageFailed = ProblemCode("storage-failed", 500, "The store failed")
    /// The request breaks the rules of HTTP/1.1 framing.
    public static let malformedRequest = ProblemCode("malformed-request", 400, "Malformed request")

    private static let known: [String: ProblemCode] = Dictionary(
        uniqueKeysWithValues: [
            notFound, preconditionFailed, invalidJSON, invalidKey, invalidCursor, invalidRequest, outOfBounds, cursorExpired,
            epochChanged, cursorAhead, rightsChanged, writeGap, numberTaken, clientTaken, batchRejected, tooLarge, unsupportedMediaType,
            methodNotAllowed, unauthorized, forbidden, misdirectedRequest, tooManyRequests, overloaded, unavailable, outcomeUnknown,
            storageFull, quotaExceeded, storageFailed, malformedRequest,
        ].map { ($0.text, $0) })

    /// The code with this text, or a new one with `status` where it is unknown here.
    public init(text: String, status: Int) {
        self = Self.known[text] ?? ProblemCode(text, status, text)
    }

    /// The code's text.
    public var description: String { text }
}
