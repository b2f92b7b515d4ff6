import FreshetTestSupport
import Testing

@Suite("Articles about the test kit")
struct KitArticleTests {
    @Test("each shows the lines that are compiled and run, and nothing else")
    func compiled() throws {
        // Given
        let catalogue = "Sources/TestKit/FreshetTestKit.docc"
        #expect(try !Article.all(in: catalogue).isEmpty)
        // Then
        #expect(try Article.unproven(in: catalogue, suites: "TestKitTests") == [])
    }
}
