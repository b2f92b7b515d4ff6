import FreshetCache
import FreshetTestSupport
import Synchronization
import Testing

/// A server whose news are numbered.
private final class Server: Sendable {
    private let count = Mutex(0)

    func news() async throws -> String {
        count.withLock { count in
            count += 1
            return "news \(count)"
        }
    }
}

private func example(
    _ disk: DiskCache, _ server: Server, present: (String, CacheSource) -> Void, show: ([String], RequestError?) -> Void
) async throws {
    // article begins
    let requests = RequestCache<String>(TwoTierCache(primary: Cache(), secondary: disk))
    let key = RequestKey("news", ["page": "1", "language": "en"])  // the order does not count

    // cacheElseNetwork by default. Responses are kept for a day by default.
    let first = try await requests.value(forKey: key, lifetime: .after(.seconds(600))) { try await server.news() }
    let again = try await requests.value(forKey: key) { try await server.news() }

    // cacheThenNetwork: the cached response at once, and a newer one after it.
    for try await news in requests.values(forKey: key, policy: .cacheThenNetwork, load: { try await server.news() }) {
        present(news.value, news.source)  // `news.storedAt` is the time of the fetch
    }

    // networkOnly: what somebody pulls to refresh. It is kept for the others.
    let pulled = try await requests.value(forKey: key, policy: .networkOnly) { try await server.news() }

    // cacheOnly: for a train in a tunnel. A response that is not cached is an error.
    let offline = try await requests.cachedValue(forKey: key)
    try await requests.removeAll(named: "news")  // whatever the parameters
    var problem: RequestError?
    do { _ = try await requests.cachedValue(forKey: key) } catch let error as RequestError { problem = error }
    show([first, again, pulled, offline].map { "\($0.value) from \($0.source)" }, problem)
    // article ends
}

@Suite("Article: request policies")
struct RequestPoliciesTests {
    @Test("runs as it says: the server is asked three times for five answers")
    func runs() async throws {
        let folder = TemporaryDirectory()
        var presented: [String] = []
        var shown = 0
        try await example(DiskCache.open(folder.path), Server()) {
            presented.append("\($0) from \($1)")
        } show: { answers, problem in
            shown += 1
            #expect(answers == ["news 1 from network", "news 1 from memory", "news 3 from network", "news 3 from memory"])
            #expect(problem == .notCached(RequestKey("news", ["language": "en", "page": "1"])))
        }
        #expect(shown == 1 && presented == ["news 1 from memory", "news 2 from network"])
    }
}
