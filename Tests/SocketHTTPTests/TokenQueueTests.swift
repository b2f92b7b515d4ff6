import Testing

@testable import FreshetSocketHTTP

@Suite struct TokenQueueTests {
    @Test("tokens leave in the order in which they came, also while others come")
    func order() {
        // Given ten thousand tokens
        var queue = TokenQueue()
        for token in 0..<10_000 as Range<UInt64> { queue.append(token) }
        // When one is appended for each two that are removed
        var removed: [UInt64] = []
        var next: UInt64 = 10_000
        while let token = queue.removeFirst() {
            removed.append(token)
            if let second = queue.removeFirst() { removed.append(second) }
            guard next < 15_000 else { continue }
            queue.append(next)
            next += 1
        }
        // Then
        #expect(removed == Array(0..<next))
        #expect(queue.isEmpty)
        #expect(queue.removeFirst() == nil)
    }

    @Test("the count is that of the tokens that wait")
    func count() {
        // Given five thousand tokens, When each is removed, Then the count is that of the others
        var queue = TokenQueue()
        for token in 0..<5_000 as Range<UInt64> { queue.append(token) }
        for left in (0..<5_000).reversed() {
            #expect(queue.removeFirst() != nil)
            #expect(queue.count == left)
        }
    }
}
