internal import HTTPTypes

/// The demands of a request on a cache (RFC 9111 §5.2.1). An invalid number counts as the strictest possible one.
struct RequestDemand {
    let noCache: Bool
    let noStore: Bool
    let onlyIfCached: Bool
    let maxAge: Int64?
    let minFresh: Int64?
    let maxStale: Int64?
    let staleIfError: Int64?
    /// Whether the request has a range or conditions, so that the response is for the caller alone.
    let hasOwnConditions: Bool

    init(_ request: HTTPRequest) {
        let control = CacheControl(request.headerFields)
        // Pragma applies only without Cache-Control (RFC 9111 §5.4).
        let pragma = control.isEmpty && request.headerFields.names(in: .pragma).contains("no-cache")
        noCache = pragma || control.has("no-cache")
        noStore = control.has("no-store")
        onlyIfCached = control.has("only-if-cached")
        maxAge = control.seconds("max-age").map { $0.or(0) }
        minFresh = control.seconds("min-fresh").map { $0.or(CacheControl.mostSeconds) }
        let isAnyAgeTaken = control.directives.contains { $0.name == "max-stale" && $0.argument == .none }
        maxStale = isAnyAgeTaken ? CacheControl.mostSeconds : control.validSeconds("max-stale")
        staleIfError = control.validSeconds("stale-if-error")
        let conditions: [HTTPField.Name] = [.range, .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange]
        hasOwnConditions = conditions.contains { request.headerFields.contains($0) }
    }
}

extension CacheControl.Seconds {
    fileprivate func or(_ fallback: Int64) -> Int64 {
        switch self {
        case .valid(let seconds): seconds
        case .invalid: fallback
        }
    }
}

extension HTTPField.Name {
    /// `Pragma`, of HTTP/1.0.
    static let pragma: HTTPField.Name? = HTTPField.Name("Pragma")
}

extension HTTPFields {
    fileprivate func names(in field: HTTPField.Name?) -> [String] { field.map { names(in: $0) } ?? [] }
}
