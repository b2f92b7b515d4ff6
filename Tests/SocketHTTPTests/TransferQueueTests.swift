import Testing

@testable import FreshetSocketHTTP

@Suite struct TransferQueueTests {
    @Test("a turn serves sixteen connections in their order, and the next turn goes on behind them")
    func order() {
        // Given forty connections that wait, and transfer little
        var queue = TransferQueue()
        for token in 1...40 as ClosedRange<UInt64> { queue.append(token) }
        // When each that is served waits again
        var turns: [[UInt64]] = []
        for _ in 1...3 {
            queue.beginTurn()
            var served: [UInt64] = []
            while let token = queue.next() {
                served.append(token)
                queue.count(1_000)
            }
            for token in served { queue.append(token) }
            turns.append(served)
        }
        // Then
        #expect(turns == [Array(1...16), Array(17...32), Array(33...40) + Array(1...8)])
    }

    @Test("a turn ends after 1 MiB")
    func bytes() {
        var queue = TransferQueue()
        for token in 1...40 as ClosedRange<UInt64> { queue.append(token) }
        queue.beginTurn()
        var served = 0
        while queue.next() != nil {
            served += 1
            queue.count(300 << 10)
        }
        #expect(served == 4)
    }

    @Test("when a turn has moved 1 MiB before its transfers, they get one slice")
    func busyTurn() {
        var queue = TransferQueue()
        for token in 1...2 as ClosedRange<UInt64> { queue.append(token) }
        queue.beginTurn()
        queue.count(8 << 20)
        #expect(queue.next() == 1)
        #expect(queue.next() == nil)
        #expect(!queue.isEmpty)
    }

    @Test("slices are large while few wait, and an answer is sent in large pieces until the turn has moved 1 MiB")
    func shares() {
        var queue = TransferQueue()
        queue.beginTurn()
        #expect((queue.share, queue.answerShare) == (256 << 10, 256 << 10))
        for token in 1...4 as ClosedRange<UInt64> { queue.append(token) }
        queue.count(1 << 20)
        #expect((queue.share, queue.answerShare) == (64 << 10, 64 << 10))
    }

    @Test("connections that come and go for long leave nothing behind")
    func reuse() {
        var queue = TransferQueue()
        for token in 1...10_000 as ClosedRange<UInt64> {
            queue.append(token)
            queue.append(token)
            queue.beginTurn()
            #expect(queue.next() != nil)
            #expect(queue.next() != nil)
        }
        #expect(queue.isEmpty)
    }
}
