/// Why a request was, or would be, served as it is. Its description is a sentence for a log or a developer.
public enum HTTPCacheReason: Hashable, Sendable {
    // MARK: From what is stored

    /// It is fresh.
    case fresh(HTTPFreshness)
    /// It is stale, by no more than the request's `max-stale` allows.
    case staleAllowedByRequest(HTTPFreshness)
    /// It is stale, by no more than its `stale-while-revalidate` allows; it is validated in the background.
    case staleWhileRevalidate(HTTPFreshness)
    /// It is stale, by no more than `stale-if-error` allows, and the origin failed as the text says.
    case staleIfError(HTTPFreshness, error: String)
    /// It is older than the request's `max-age`, fresh, and `immutable`.
    case immutable(HTTPFreshness)
    /// The mode asks for what is stored, however old.
    case ageIgnored(HTTPFreshness)

    // MARK: From the network

    /// Nothing that fits the request is stored.
    case notStored
    /// What is stored is stale.
    case stale(HTTPFreshness)
    /// What is stored says `no-cache`: it is validated each time.
    case responseNoCache
    /// The request says `no-cache`, by `Cache-Control` or `Pragma`.
    case requestNoCache
    /// What is stored is older than the request's `max-age`.
    case olderThanRequested(HTTPFreshness)
    /// What is stored is not fresh for as long as the request's `min-fresh` asks.
    case notFreshForLongEnough(HTTPFreshness)
    /// The wall clock shows a time before the response came, so that its age is unknown.
    case clockWentBack
    /// The mode asks for the network.
    case reload
    /// The method is not one whose responses are kept.
    case methodNotCached(String)
    /// The request asks for a part, or makes its own conditions, which the cache leaves to the origin.
    case ownConditions
    /// The origin answered `304` for something other than what is stored, so that it was asked without conditions.
    case validationMismatch
}

extension HTTPCacheReason: CustomStringConvertible {
    /// The reason as the end of a sentence.
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
        case .stale(let freshness): "what is stored is stale, \(freshness)"
        case .responseNoCache: "what is stored says no-cache"
        case .requestNoCache: "the request says no-cache"
        case .olderThanRequested(let freshness): "what is stored is older than the request's max-age, \(freshness)"
        case .notFreshForLongEnough(let freshness): "what is stored is not fresh for the request's min-fresh, \(freshness)"
        case .clockWentBack: "the clock went back, so the age of what is stored is unknown"
        case .reload: "the mode asks for the network"
        case .methodNotCached(let method): "responses to \(method) are not kept"
        case .ownConditions: "the request asks for a part or has conditions of its own"
        case .validationMismatch: "the origin confirmed something other than what is stored"
        }
    }
}
