import FreshetHTTPCache
import FreshetPlatform
import HTTPTypes
import Testing

@Suite("Settings of the HTTP cache at the ends of their types")
struct HTTPCachePolicyExtremeTests {
    /// A response without a lifetime that was last modified 1,000 seconds before it was made.
    private func stored() throws -> StoredHTTPResponse {
        let made: Int64 = 1_000_000
        let fields: HTTPFields = [
            .date: HTTPDate(seconds: made).description, .lastModified: HTTPDate(seconds: made - 1_000).description,
        ]
        let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/b")
        return StoredHTTPResponse(
            url: try #require(HTTPURL("http://a/b")), request: request, response: HTTPResponse(status: .ok, headerFields: fields), body: [],
            requestTime: made * 1_000, responseTime: made * 1_000)
    }

    @Test(
        "a share that is not a number counts as zero",
        arguments: [
            (Double.nan, 0), (.infinity, 1_000), (-.infinity, 0), (1e300, 1_000), (0.5, 500),
        ] as [(Double, Int64)])
    func heuristics(share: Double, expected: Int64) throws {
        // Given
        var policy = HTTPCachePolicy()
        (policy.heuristicShare, policy.longestHeuristic) = (share, .max)
        // Then
        #expect(policy.freshness(of: try stored(), now: 1_000_000_000).lifetime == expected)
        policy.longestHeuristic = .min
        #expect(policy.freshness(of: try stored(), now: 1_000_000_000).lifetime == 0)
    }

    @Test("a stale response can be used after an error without a time limit")
    func staleIfError() throws {
        // Given
        var policy = HTTPCachePolicy()
        let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/b")
        // Then
        #expect(policy.staleOnError(try stored(), for: request, mode: .standard, error: "x", now: 9_000_000_000_000) == nil)
        policy.staleIfError = .max
        #expect(policy.staleOnError(try stored(), for: request, mode: .standard, error: "x", now: 9_000_000_000_000) != nil)
    }

    @Test("a clock and a store may return any times", arguments: [Int64.min, 0, .max], [Int64.min, 0, .max])
    func times(request: Int64, response: Int64) throws {
        // Given responses that were received at any time, with dates far from it
        let fields: [HTTPFields] = [
            [.date: "Thu, 01 Jan 0004 00:00:00 GMT", .age: "99999999999"],
            [.date: "none", .lastModified: "Thu, 01 Jan 0004 00:00:00 GMT"],
            [.lastModified: "Thu, 01 Jan 0004 00:00:00 GMT", .expires: "Thu, 01 Jan 9999 00:00:00 GMT"],
            [.cacheControl: "max-age=99999999999, stale-while-revalidate=99999999999"],
        ]
        var policy = HTTPCachePolicy()
        (policy.heuristicShare, policy.longestHeuristic, policy.staleIfError) = (1, .max, .max)
        for fields in fields {
            var demand = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/b")
            let stored = StoredHTTPResponse(
                url: try #require(HTTPURL("http://a/b")), request: demand, response: HTTPResponse(status: .ok, headerFields: fields),
                body: [],
                requestTime: request, responseTime: response)
            for now in [Int64.min, 0, .max] {
                // Then it has an age, and each request a decision
                #expect(policy.freshness(of: stored, now: now).age >= 0)
                for control in ["min-fresh=99999999999", "max-stale", "max-age=0", "no-cache"] {
                    demand.headerFields[.cacheControl] = control
                    _ = policy.decision(for: demand, stored: stored, mode: .standard, now: now)
                    _ = policy.staleOnError(stored, for: demand, mode: .standard, error: "x", now: now)
                }
            }
        }
    }
}
