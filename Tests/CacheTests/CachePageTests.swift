import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

private func askTheShop(_ name: String) async throws -> Int { name.utf8.count * 10 }

/// The page's lines, with the test's directory.
private func pageExample(_ directory: String, show: (Int, Int, Int, Int) -> Void) async throws {
    // page begins
    let prices = Cache<String, Int>(countLimit: 10_000, lifetime: .after(.seconds(3_600)))
    prices["apple"] = 120
    prices.setValue(80, forKey: "pear", tags: ["fruit"])

    // Concurrent requests share one load; a key that is removed meanwhile stays removed.
    let plum = try await prices.value(forKey: "plum") { try await askTheShop("plum") }

    let disk = try await DiskCache.open(directory)
    try await disk.setValue(Array("a picture".utf8), forKey: "pictures/1", lifetime: .after(.seconds(86_400)))
    let picture = try await disk.value(forKey: "pictures/1")  // the stored bytes, or nil; never anything else

    prices.removeAll(taggedWith: "fruit")
    show(plum, prices["pear"] ?? -1, picture?.bytes.count ?? 0, prices.statistics.hits)
    // page ends
}

@Suite struct CachePageTests {
    @Test func theExampleIsTheOneThatIsCompiled() throws {
        // Given the page's Swift and the compiled lines
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        let page = try String(contentsOfFile: root + "/docs/cache.md", encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let shown = try #require(excerpt(of: page, from: "```swift\nimport FreshetCache\n\n", to: "```"))
        let compiled = try #require(excerpt(of: source, from: "    // page begins\n", to: "    // page ends"))
        // Then they are the same
        #expect(shown == unindented(compiled))
    }

    @Test func theExampleRuns() async throws {
        let folder = TemporaryDirectory()
        var shown: [Int] = []
        try await pageExample(folder.path) { shown = [$0, $1, $2, $3] }
        #expect(shown == [40, -1, 9, 0])
    }
}
