internal import FreshetCache

/// Counts of a ``CachingHTTPClient`` since it was made. Each redirect counts as a separate request.
public struct HTTPClientStatistics: Hashable, Sendable, CustomStringConvertible {
    /// Responses served from the cache alone.
    public internal(set) var served = 0
    /// Served responses that were stale.
    public internal(set) var servedStale = 0
    /// Responses served after the origin confirmed them.
    public internal(set) var validated = 0
    /// Responses returned from the origin.
    public internal(set) var fetched = 0
    /// Requests that shared another caller's response; they count above too.
    public internal(set) var joined = 0
    /// Requests without a suitable stored response where the network was not allowed.
    public internal(set) var unavailable = 0
    /// Requests to the origin that ended without a response.
    public internal(set) var failed = 0
    /// Responses stored or freshened.
    public internal(set) var stored = 0
    /// Times that the store could not be written.
    public internal(set) var storeFailures = 0

    /// The share of responses for which no content crossed the network, from 0 to 1; 0 before the first.
    public var hitRate: Double {
        let all = served + validated + fetched
        return all == 0 ? 0 : Double(served + validated) / Double(all)
    }

    /// One line for a person; counts of 0 are left out except for the responses.
    public var description: String {
        var text =
            "\(served) from the cache, \(validated) validated, \(fetched) fetched (\(StatisticsText.percent(hitRate)) without content)"
        let rest = [
            (servedStale, "served stale"), (joined, "joined"), (unavailable, "unavailable"), (failed, "failed"), (stored, "stored"),
            (storeFailures, "not stored since the store failed"),
        ]
        for (count, name) in rest where count > 0 { text += ", \(count) \(name)" }
        return text
    }

    mutating func count(_ response: CachedHTTPResponse) {
        switch response.source {
        case .cache:
            served += 1
            servedStale += response.isStale ? 1 : 0
        case .validated: validated += 1
        case .network: fetched += 1
        case .none: unavailable += 1
        }
        joined += response.wasJoined ? 1 : 0
    }
}
