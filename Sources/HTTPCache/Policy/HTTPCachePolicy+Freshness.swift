internal import FreshetCache
internal import FreshetPlatform
internal import HTTPTypes

extension HTTPCachePolicy {
    /// The age of a stored response, and how long it is fresh.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func freshness(of stored: StoredHTTPResponse, now: Int64) -> HTTPFreshness {
        let (lifetime, source) = lifetime(of: stored)
        return HTTPFreshness(age: Self.age(of: stored, now: now), lifetime: lifetime, source: source)
    }

    /// RFC 9111 §4.2.1; `s-maxage` is for shared caches.
    private func lifetime(of stored: StoredHTTPResponse) -> (Int64, HTTPFreshness.Source) {
        switch CacheControl(stored.fields).seconds("max-age") {
        case .valid(let seconds)?: return (seconds, .maxAge)
        case .invalid?: return (0, .invalid)
        case nil: break
        }
        let arrival = stored.responseTime / 1_000
        let made = stored.fields.date(.date, now: arrival).date?.seconds ?? arrival
        switch stored.fields.date(.expires, now: arrival) {
        case .date(let expiry): return (max(0, expiry.seconds - made), .expires)
        case .invalid: return (0, .invalid)
        case .absent: break
        }
        guard Self.isHeuristicallyCacheable(stored.status) || CacheControl(stored.fields).has("public"),
            let modified = stored.fields.date(.lastModified, now: arrival).date, modified.seconds < made
        else { return (0, .unknown) }
        let share = min(max(heuristicShare, 0), 1) * Double(made - modified.seconds)
        return (min(Int64(saturating: share), max(0, longestHeuristic)), .heuristic)
    }

    /// The age in milliseconds, RFC 9111 §4.2.3. Dates have whole seconds, so fractions of a second are ignored for
    /// them. The result saturates for extreme times of a clock or a store.
    private static func age(of stored: StoredHTTPResponse, now: Int64) -> Int64 {
        let arrival = stored.responseTime / 1_000
        let apparent = stored.fields.date(.date, now: arrival).date.map { max(0, arrival - $0.seconds) } ?? 0
        let delay = max(0, stored.responseTime.saturatingSubtract(stored.requestTime))
        let initial = max(apparent.saturatingThousandfold, delay.saturatingAdd(stored.fields.ageSeconds * 1_000))
        return initial.saturatingAdd(max(0, now.saturatingSubtract(stored.responseTime)))
    }
}
