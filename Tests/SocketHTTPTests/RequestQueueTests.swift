import Testing

@testable import FreshetSocketHTTP

@Suite struct RequestQueueTests {
    /// The requests that a connection has handled if it sends without end.
    private static func handle(_ queue: inout RequestQueue, limit: Int = 64) -> Int {
        var count = 0
        while queue.admit(after: count, limit: limit) { count += 1 }
        return count
    }

    /// A queue in which the connections 1 to `waiting` wait, at the beginning of a turn.
    private static func queue(waiting: Int) -> RequestQueue {
        var queue = RequestQueue()
        for token in 0..<waiting { queue.append(UInt64(token) + 1) }
        queue.beginTurn()
        return queue
    }

    @Test("a connection has fewer requests handled the more connections wait, and at least eight")
    func shares() {
        // Given connections that wait, When one of them continues
        let shares = [0, 1, 8, 16, 64, 10_000].map { waiting in
            var queue = Self.queue(waiting: waiting)
            return Self.handle(&queue)
        }
        // Then
        #expect(shares == [64, 64, 64, 32, 8, 8])
    }

    @Test("a limit below the share holds")
    func limit() {
        // Given connections that wait, whose share would be eight
        var queue = Self.queue(waiting: 1_000)
        // When one continues that may have two, Then two are handled
        let handled = Self.handle(&queue, limit: 2)
        #expect(handled == 2)
    }

    @Test("a turn handles 512 requests of a thousand connections that wait, and the next turn continues behind them")
    func order() {
        // Given a thousand connections that wait, and send without end
        var queue = Self.queue(waiting: 1_000)
        // When turns run in which each connection that continues waits again
        var turns: [[UInt64]] = []
        for _ in 1...17 {
            queue.beginTurn()
            var turn: [UInt64] = []
            var requests = 0
            while let token = queue.next() {
                requests += Self.handle(&queue)
                queue.append(token)
                turn.append(token)
            }
            #expect(requests == 512)
            turns.append(turn)
        }
        // Then all continue in their order, before any continues again
        let all = Array(1...1_000 as ClosedRange<UInt64>)
        #expect(turns.allSatisfy { $0.count == 64 })
        #expect(turns.flatMap { $0 } == Array((all + all).prefix(17 * 64)))
    }

    @Test("a connection that waits again in a turn continues in the next turn")
    func onceATurn() {
        // Given three connections that wait
        var queue = Self.queue(waiting: 3)
        // When each waits again without a request
        var continued: [UInt64] = []
        while let token = queue.next() {
            continued.append(token)
            queue.append(token)
        }
        // Then
        #expect(continued == [1, 2, 3])
        #expect(!queue.isEmpty)
        queue.beginTurn()
        #expect(queue.next() == 1)
    }

    @Test("when a turn has handled its shared requests, each further connection has one handled, up to a bound")
    func firstRequests() {
        // Given a turn that has handled 512 requests of connections that waited
        var queue = Self.queue(waiting: 1_000)
        while queue.next() != nil { _ = Self.handle(&queue) }
        // When as many connections have events as one turn has, Then the first request of each is handled
        for _ in 0..<RequestQueue.turnEvents {
            let handled = Self.handle(&queue)
            #expect(handled == 1)
        }
        // When there are more, as after answers from other threads, Then they wait
        let excess = Self.handle(&queue)
        #expect(excess == 0)
        // When the next turn begins, Then the connections that wait come first
        queue.beginTurn()
        #expect(queue.next() == 65)
        let share = Self.handle(&queue)
        #expect(share == 8)
    }

    @Test("an empty queue returns no connection")
    func empty() {
        // Given no connection that waits, When a turn begins, Then none continues
        var queue = RequestQueue()
        queue.beginTurn()
        #expect(queue.isEmpty)
        #expect(queue.next() == nil)
    }
}
