package import HTTPTypes

extension HTTPCachePolicy {
    /// Whether a response may be stored (RFC 9111 §3), and the reason if not.
    ///
    /// Ignores fields about credentials: the cache is private to its user, so `private` and `Authorization` forbid
    /// nothing.
    package func refusal(of response: HTTPResponse, contentSize: Int, to request: HTTPRequest) -> HTTPStorage.Refusal? {
        let demand = RequestDemand(request)
        let control = CacheControl(response.headerFields)
        let status = response.status.code
        guard request.method == .get else { return .method }
        guard !demand.noStore else { return .requestNoStore }
        guard status >= 200, status != 206, status != 304, !response.headerFields.contains(.contentRange) else { return .partial }
        // The response to the request's own conditions or to a range may be partial, unless its status is 200.
        guard !demand.hasOwnConditions || status == 200 else { return .partial }
        if control.has("must-understand") {
            // must-understand overrides a no-store beside it, which is for older caches (RFC 9111 §5.2.2.3).
            guard Self.isUnderstood(status) else { return .notUnderstood }
        } else if control.has("no-store") {
            return .noStore
        }
        guard response.headerFields.varyNames != nil else { return .variesByEverything }
        let hasExplicitLifetime =
            control.has("max-age") || control.has("public") || control.has("private") || response.headerFields.contains(.expires)
        guard hasExplicitLifetime || Self.isHeuristicallyCacheable(status) else { return .noLifetime }
        return contentSize > largestContent ? .tooLarge : nil
    }

    /// RFC 9110 §15.1, without 206: partial responses are not stored.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Whether the cache knows the meaning of a status: those of RFC 9110 and 6585, except partial responses.
    private static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 428, 429, 431, 451, 500...505, 511: true
        default: false
        }
    }

    /// Whether a status is a failure for which `stale-if-error` applies (RFC 5861 §4).
    static func isOriginFailure(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
