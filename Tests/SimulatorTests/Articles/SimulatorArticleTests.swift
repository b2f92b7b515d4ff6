import FoundationEssentials
import FreshetTestSupport
import Testing

@Suite("Articles about the simulator")
struct SimulatorArticleTests {
    @Test("each shows the lines that are compiled and run, and nothing else")
    func compiled() throws {
        // Given
        let articles = try Article.all(in: "Sources/Simulator/FreshetSimulator.docc")
        let root = #filePath.components(separatedBy: "/Tests/")[0]
        #expect(!articles.isEmpty)
        for article in articles {
            // Each has a suite
            let source = "\(root)/Tests/SimulatorTests/Articles/\(article.name)Tests.swift"
            try #require(FileManager.default.fileExists(atPath: source), "\(article.name) has no test")
            // Then
            let compiled = try Article.allCompiled(in: source)
            #expect(!compiled.isEmpty && article.examples == compiled, "\(article.name)")
        }
    }
}
