import Testing

@testable import FreshetSimulator

@Suite struct EventQueueTests {
    @Test func whatComesFirstIsFirstAndEqualsKeepTheirOrder() {
        // Given events at random times, many of them equal
        var random = RandomSource(seed: 1)
        var queue = EventQueue<Int>()
        var expected: [(time: Int64, number: Int)] = []
        for number in 0..<1_000 {
            let time = Int64(random.below(50))
            queue.push(number, at: time)
            expected.append((time, number))
        }
        // When they are taken out
        var found: [Int] = []
        while let (_, number) = queue.pop() { found.append(number) }
        // Then they come by time, and by the order in which they were put in
        #expect(found == expected.sorted { ($0.time, $0.number) < ($1.time, $1.number) }.map(\.number))
        #expect(queue.nextTime == nil)
    }

    @Test func takingAndPuttingInMayAlternate() {
        var queue = EventQueue<String>()
        queue.push("later", at: 5)
        queue.push("now", at: 1)
        #expect(queue.pop()?.element == "now")
        queue.push("between", at: 3)
        #expect(queue.nextTime == 3)
        #expect(queue.pop()?.element == "between")
        #expect(queue.pop()?.element == "later")
        #expect(queue.pop()?.element == nil)
    }
}
