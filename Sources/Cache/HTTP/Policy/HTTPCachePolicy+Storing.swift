package import HTTPTypes

extension HTTPCachePolicy {
    /// Whether a response may be kept (RFC 9111 §3), and why not.
    ///
    /// Not asked of it are its fields of credentials: the cache is its user's alone, so `private` and `Authorization` forbid nothing.
    package func refusal(of response: HTTPResponse, contentSize: Int, to request: HTTPRequest) -> HTTPStorage.Refusal? {
        let demand = RequestDemand(request)
        let control = CacheControl(response.headerFields)
        let status = response.status.code
        guard request.method == .get else { return .method }
        guard !demand.noStore else { return .requestNoStore }
        guard status >= 200, status != 206, status != 304, !response.headerFields.contains(.contentRange) else { return .partial }
        // What the request's own conditions or a range brought may say nothing about the whole, save where it is the whole.
        guard !demand.hasOwnConditions || status == 200 else { return .partial }
        if control.has("must-understand") {
            // It takes the place of the no-store that stands beside it for older caches (RFC 9111 §5.2.2.3).
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

    /// RFC 9110 §15.1, without 206: parts are not kept.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Whether the status's meaning for a cache is known here: those of RFC 9110 and 6585, without parts.
    private static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 428, 429, 431, 451, 500...505, 511: true
        default: false
        }
    }

    /// Whether a status is a failure that `stale-if-error` is about (RFC 5861 §4).
    static func isOriginFailure(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
