/// The reason why a request was, or would be, answered in a certain way. Its description is a sentence for a log or a
/// developer.
public enum HTTPCacheReason: Hashable, Sendable {
    // MARK: From a stored response

    /// The stored response is fresh.
    case fresh(HTTPFreshness)
    /// The stored response is stale, but within the request's `max-stale`.
    case staleAllowedByRequest(HTTPFreshness)
    /// The stored response is stale, but within its `stale-while-revalidate`; it is validated in the background.
    case staleWhileRevalidate(HTTPFreshness)
    /// The stored response is stale, but within `stale-if-error`, and the origin failed with this error.
    case staleIfError(HTTPFreshness, error: String)
    /// The stored response is older than the request's `max-age`, fresh, and `immutable`.
    case immutable(HTTPFreshness)
    /// The mode accepts a stored response of any age.
    case ageIgnored(HTTPFreshness)

    // MARK: From the network

    /// No stored response matches the request.
    case notStored
    /// The stored response is stale.
    case stale(HTTPFreshness)
    /// The stored response has `no-cache`: it is validated each time.
    case responseNoCache
    /// The request has `no-cache`, in `Cache-Control` or `Pragma`.
    case requestNoCache
    /// The stored response is older than the request's `max-age`.
    case olderThanRequested(HTTPFreshness)
    /// The stored response is not fresh for as long as the request's `min-fresh` demands.
    case notFreshForLongEnough(HTTPFreshness)
    /// The wall clock shows a time before the response was received, so its age is unknown.
    case clockWentBack
    /// The mode asks for the network.
    case reload
    /// Responses to this method are not stored.
    case methodNotCached(String)
    /// The request has a range or conditions, which the cache leaves to the origin.
    case ownConditions
    /// The origin answered `304` for a version that is not stored, so the request was repeated without conditions.
    case validationMismatch
}

extension HTTPCacheReason: CustomStringConvertible {
    /// The reason, to end a sentence.
    public var description: String {
        switch self {
        case .fresh(let freshness): "stored and fresh, \(freshness)"
        case .staleAllowedByRequest(let freshness): "stored and stale, which the request's max-stale allows, \(freshness)"
        case .staleWhileRevalidate(let freshness): "stored and stale, being validated in the background, \(freshness)"
        case .staleIfError(let freshness, let error):
            "stored and stale, which stale-if-error allows since the origin failed (\(error)), \(freshness)"
        case .immutable(let freshness): "stored, fresh and immutable, \(freshness)"
        case .ageIgnored(let freshness): "stored, and the mode ignores its age, \(freshness)"
        case .notStored: "nothing stored fits the request"
        case .stale(let freshness): "the stored response is stale, \(freshness)"
        case .responseNoCache: "the stored response says no-cache"
        case .requestNoCache: "the request says no-cache"
        case .olderThanRequested(let freshness): "the stored response is older than the request's max-age, \(freshness)"
        case .notFreshForLongEnough(let freshness): "the stored response is not fresh for the request's min-fresh, \(freshness)"
        case .clockWentBack: "the clock went back, so the age of the stored response is unknown"
        case .reload: "the mode asks for the network"
        case .methodNotCached(let method): "responses to \(method) are not kept"
        case .ownConditions: "the request has a range or conditions"
        case .validationMismatch: "the origin confirmed a version that is not stored"
        }
    }
}
