internal import FreshetCache
package import HTTPTypes

/// The rules of a private HTTP cache (RFC 9111, RFC 5861, RFC 8246), with the parameters that those leave to the cache.
///
/// All decisions are pure: the time is a parameter, and nothing is read or sent.
public struct HTTPCachePolicy: Hashable, Sendable {
    /// The share of the time since `Last-Modified` for which a response without an explicit lifetime is fresh; from 0
    /// (never) to 1.
    public var heuristicShare = 0.1
    /// The longest heuristic lifetime, in seconds.
    public var longestHeuristic: Int64 = 24 * 60 * 60
    /// For how many seconds a stale response may be used if the origin fails, unless the response or the request states
    /// it; 0 for never.
    public var staleIfError: Int64 = 0
    /// The greatest size of a stored response's content, in bytes.
    public var largestContent = 32 << 20

    /// Creates the default policy.
    public init() {}
}

/// The action for a request.
package enum HTTPCacheDecision: Hashable, Sendable {
    /// Return the stored response.
    case serve(HTTPCacheReason)
    /// Return the stored response, and revalidate it in the background with these fields.
    case serveAndRevalidate(conditions: HTTPFields, HTTPCacheReason)
    /// Send the request with these additional fields; there are none if no stored response can be confirmed.
    case load(conditions: HTTPFields, HTTPCacheReason)
    /// There is no usable response, and the origin may not be asked.
    case unavailable(HTTPCacheReason)
}

extension HTTPCachePolicy {
    /// Decides about a request before it is sent.
    ///
    /// - Parameters:
    ///   - stored: the stored response for the request's URL and selecting fields.
    ///   - now: milliseconds since 1970.
    package func decision(
        for request: HTTPRequest, stored: StoredHTTPResponse?, mode: HTTPCacheMode, now: Int64
    ) -> HTTPCacheDecision {
        let demand = RequestDemand(request)
        guard mode == .standard, !demand.onlyIfCached else {
            let decision = unrestrictedDecision(demand, request, stored, mode, now)
            guard mode == .cacheOnly || demand.onlyIfCached && mode != .reload else { return decision }
            return switch decision {
            case .serve: decision
            case .serveAndRevalidate(_, let reason): .serve(reason)
            case .load(_, let reason), .unavailable(let reason): .unavailable(reason)
            }
        }
        return unrestrictedDecision(demand, request, stored, mode, now)
    }

    /// The decision if the origin may be asked.
    private func unrestrictedDecision(
        _ demand: RequestDemand, _ request: HTTPRequest, _ stored: StoredHTTPResponse?, _ mode: HTTPCacheMode, _ now: Int64
    ) -> HTTPCacheDecision {
        guard request.method == .get || request.method == .head else {
            return .load(conditions: [:], .methodNotCached(request.method.rawValue))
        }
        guard !demand.hasOwnConditions else { return .load(conditions: [:], .ownConditions) }
        guard mode != .reload else { return .load(conditions: [:], .reload) }
        guard let stored else { return .load(conditions: [:], .notStored) }
        let freshness = freshness(of: stored, now: now)
        guard mode == .standard else { return .serve(.ageIgnored(freshness)) }
        let control = CacheControl(stored.fields)
        return reuse(stored, freshness, control, demand, hasClockGoneBack: Self.hasClockGoneBack(since: stored, now))
    }

    private func reuse(
        _ stored: StoredHTTPResponse, _ freshness: HTTPFreshness, _ control: CacheControl, _ demand: RequestDemand, hasClockGoneBack: Bool
    ) -> HTTPCacheDecision {
        let conditions = stored.conditions
        // `no-cache` with field names forbids only those fields. Like many caches, this one applies it to the whole
        // response.
        if control.has("no-cache") { return .load(conditions: conditions, .responseNoCache) }
        if demand.noCache { return .load(conditions: conditions, .requestNoCache) }
        if hasClockGoneBack { return .load(conditions: conditions, .clockWentBack) }
        if let maximum = demand.maxAge, freshness.age > maximum * 1_000 {
            guard maximum == 0, freshness.isFresh, control.has("immutable") else {
                return .load(conditions: conditions, .olderThanRequested(freshness))
            }
            return .serve(.immutable(freshness))
        }
        if let minimum = demand.minFresh, freshness.staleness.saturatingAdd(minimum * 1_000) > 0 {
            return .load(conditions: conditions, .notFreshForLongEnough(freshness))
        }
        if freshness.isFresh { return .serve(.fresh(freshness)) }
        if !control.has("must-revalidate") {
            if let most = demand.maxStale, freshness.staleness <= most * 1_000 { return .serve(.staleAllowedByRequest(freshness)) }
            if let window = control.validSeconds("stale-while-revalidate"), freshness.staleness < window * 1_000, demand.maxAge == nil {
                return .serveAndRevalidate(conditions: conditions, .staleWhileRevalidate(freshness))
            }
        }
        return .load(conditions: conditions, .stale(freshness))
    }

    /// Whether a stored response may be returned although the origin failed, and the reason (RFC 5861 §4).
    ///
    /// - Parameter error: the failure, for the reason.
    package func staleOnError(
        _ stored: StoredHTTPResponse, for request: HTTPRequest, mode: HTTPCacheMode, error: String, now: Int64
    ) -> HTTPCacheReason? {
        let demand = RequestDemand(request)
        let control = CacheControl(stored.fields)
        guard !control.has("must-revalidate"), !control.has("no-cache"), !Self.hasClockGoneBack(since: stored, now) else { return nil }
        // The stored response may not meet the caller's conditions, and `reload` asks for the origin's.
        guard !demand.hasOwnConditions, mode != .reload else { return nil }
        // A request with no-cache refuses a stale response, unless it also has stale-if-error.
        let own = demand.staleIfError
        let granted = demand.noCache ? nil : control.validSeconds("stale-if-error") ?? (staleIfError > 0 ? staleIfError : nil)
        guard let most = own ?? granted else { return nil }
        let freshness = freshness(of: stored, now: now)
        let (milliseconds, isEndless) = most.multipliedReportingOverflow(by: 1_000)
        return isEndless || freshness.staleness <= milliseconds ? .staleIfError(freshness, error: error) : nil
    }

    /// Whether the clock went back by more than a minute: small adjustments are common.
    private static func hasClockGoneBack(since stored: StoredHTTPResponse, _ now: Int64) -> Bool {
        now < stored.responseTime.saturatingSubtract(60_000)
    }
}
