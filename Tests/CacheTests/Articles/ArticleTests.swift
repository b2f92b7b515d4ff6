import FoundationEssentials
import FreshetTestSupport
import Testing

@Suite("Articles")
struct ArticleTests {
    @Test("each shows exactly the lines that are compiled and run")
    func compiled() throws {
        // Given
        let articles = try Article.all(in: "Sources/Cache/FreshetCache.docc")
        let tests = #filePath.components(separatedBy: "/CacheTests/")[0]
        #expect(articles.count >= 9)
        for article in articles {
            // Each has a separate suite, here or with the HTTP cache's tests
            let places = ["CacheTests", "HTTPCacheTests"].map { "\(tests)/\($0)/Articles/\(article.name)Tests.swift" }
            let source = try #require(places.first { FileManager.default.fileExists(atPath: $0) }, "\(article.name) has no test")
            // Then
            #expect(article.examples == [try Article.compiled(in: source)], "\(article.name)")
        }
    }
}
