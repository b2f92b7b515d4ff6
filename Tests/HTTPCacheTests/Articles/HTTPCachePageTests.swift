import FoundationEssentials
import FreshetHTTPCache
import FreshetTestSupport
import Synchronization
import Testing

/// The page's lines, with an origin of the test's.
private func pageExample(_ url: String, show: @escaping @Sendable (Any, Any) -> Void) async throws {
    // page begins
    let client = try CachingHTTPClient(store: MemoryHTTPCacheStore(byteLimit: 32 << 20))

    let page = try await client.data(from: url)  // from the origin, and kept
    let again = try await client.data(from: url)  // kept and fresh: nothing is sent
    show(again.source, again.reason)  // cache, "stored and fresh, age 0 s of 60 s by max-age"

    let offline = try await client.data(from: url, mode: .cacheOnly)  // however old, never the network
    show(offline.source, offline.reason)
    show(page.body == offline.body, client.statistics.hitRate)
    // page ends
}

@Suite struct HTTPCachePageTests {
    @Test func theExampleIsTheOneThatIsCompiled() throws {
        // Given the page's Swift, and the compiled lines with the page's URL
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        let page = try String(contentsOfFile: root + "/docs/http-cache.md", encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let shown = try #require(excerpt(of: page, from: "```swift\nimport FreshetHTTPCache\n\n", to: "```"))
        let compiled = try #require(excerpt(of: source, from: "    // page begins\n", to: "    // page ends"))
        // Then they are the same
        #expect(shown == unindented(compiled).replacing("from: url", with: "from: \"https://example.org/news\""))
    }

    @Test func theExampleRuns() async throws {
        // Given an origin that is asked once
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\n")
        origin.release()
        let shown = Mutex<[String]>([])
        try await pageExample(origin.url + "/news") { left, right in shown.withLock { $0.append("\(left) \(right)") } }
        // Then the rest comes from the cache
        let lines = shown.withLock { $0 }
        #expect(origin.count == 1 && lines.count == 3)
        #expect(lines.first?.hasPrefix("cache stored and fresh, age ") == true)
        #expect(lines.last == "true \(2.0 / 3.0)")
    }
}
