import FreshetCache
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
        "a share that is no number counts as none",
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

    @Test("a stale response serves for ever after an error where the setting says so")
    func staleIfError() throws {
        // Given
        var policy = HTTPCachePolicy()
        let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/b")
        // Then
        #expect(policy.staleOnError(try stored(), for: request, error: "x", now: 9_000_000_000_000) == nil)
        policy.staleIfError = .max
        #expect(policy.staleOnError(try stored(), for: request, error: "x", now: 9_000_000_000_000) != nil)
    }
}
