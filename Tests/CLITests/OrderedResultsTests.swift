import Testing

@testable import freshet

struct OrderedResultsTests {
    @Test func elementsComeInOrder() {
        // Given the highest numbers there are
        var results = OrderedResults<String>(from: .max - 2)
        // When they are inserted in another order; Then each waits for the earlier ones
        #expect(results.insert("b", at: .max - 1).isEmpty)
        #expect(results.insert("c", at: .max).isEmpty)
        #expect(results.count == 2)
        #expect(results.insert("a", at: .max - 2) == ["a", "b", "c"])
        #expect(results.count == 0)
    }
}
