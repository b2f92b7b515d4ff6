import FreshetCache
import FreshetHTTPCache
import FreshetTestSupport
import Testing

private func example(_ directory: String, _ url: String, show: ([CachedHTTPResponse.Source], HTTPCacheReason) -> Void) async throws {
    // article begins
    let disk = try await DiskCache.open(directory)
    let client = try CachingHTTPClient(store: TieredHTTPCacheStore(disk: disk, memoryByteLimit: 8 << 20))

    let first = try await client.data(from: url)  // from the origin, and kept
    let second = try await client.data(from: url)  // fresh: nothing is sent
    let offline = try await client.data(from: url, mode: .cacheOnly)  // however old, never the network
    let asked = try await client.data(from: url, mode: .reload)  // the origin, even if a response is cached
    show([first, second, offline, asked].map(\.source), second.reason)
    // article ends
}

@Suite("Article: caching HTTP")
struct CachingHTTPTests {
    @Test("shows the lines that are compiled and run, and nothing else")
    func compiled() throws {
        let catalogue = "Sources/HTTPCache/FreshetHTTPCache.docc"
        #expect(try Article.all(in: catalogue).count == 1)
        #expect(try Article.unproven(in: catalogue, suites: "HTTPCacheTests") == [])
    }

    @Test("runs as it says: the origin is asked twice for four reads")
    func runs() async throws {
        let origin = HeldOrigin(lines: "Cache-Control: max-age=60\r\n")
        origin.release()
        let folder = TemporaryDirectory()
        var shown = 0
        try await example(folder.path, origin.url + "/news") { sources, reason in
            shown += 1
            #expect(sources == [.network, .cache, .cache, .network])
            #expect("\(reason)".hasPrefix("stored and fresh"))
        }
        #expect(shown == 1 && origin.count == 2)
    }
}
