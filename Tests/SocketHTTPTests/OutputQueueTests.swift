import Testing

@testable import FreshetSocketHTTP

@Suite("Output queue")
struct OutputQueueTests {
    @Test("Bytes leave in the order in which they came, however they are cut", arguments: [1, 2, 3, 7, 100])
    func order(step: Int) {
        // Given pieces, the first partly sent
        var queue = OutputQueue()
        queue.append([0, 1, 2, 3], from: 2)
        queue.append([4])
        queue.append([], from: 0)
        queue.append([9, 5, 6, 7], from: 1)
        #expect(queue.count == 6)

        // When it is consumed in steps, Then the rest shrinks by each
        var left = 6
        while left > 0 {
            let count = min(step, left)
            queue.consume(count)
            left -= count
            #expect(queue.count == left)
        }
        #expect(queue.isEmpty)
    }

    @Test("Many small pieces do not pile up behind")
    func many() {
        var queue = OutputQueue()
        for round in 0..<1000 {
            queue.append([UInt8(truncatingIfNeeded: round), 0])
            queue.consume(1)
        }
        #expect(queue.count == 1000)
        queue.consume(1000)
        #expect(queue.isEmpty)
    }
}
