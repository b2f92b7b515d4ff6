import Testing

@testable import FreshetServer

@Suite("Turns of senders") struct TurnQueueTests {
    private typealias Queue = TurnQueue<String, String>

    @Test("senders take turns, and the items of each are in order")
    func order() {
        // Given
        var queue = Queue(limit: 100, senderLimit: 100)
        let accepted = queue.add("a1", "a2", "a3", "a4", "b1", "b2", "c1")
        #expect(!accepted.contains(false) && queue.waiting == 7 && queue.pending == 7)
        // When
        let items = queue.drain()
        // Then
        #expect(items == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"])
        #expect(queue.waiting == 0 && queue.pending == 0)
    }

    @Test("the server itself is one sender, which only the limit of all refuses, and its urgent items come first")
    func server() {
        // Given
        var queue = Queue(limit: 6, senderLimit: 1)
        _ = queue.add("a1", "b1")
        let accepted = (1...3).map { queue.add("server \($0)", of: nil) }
        // When
        for item in ["urgent 1", "urgent 2"] { queue.addUrgent(item) }
        let isLastAccepted = queue.add("server 4", of: nil)
        let items = queue.drain()
        // Then
        #expect(accepted == [true, true, true] && !isLastAccepted)
        #expect(items == ["urgent 1", "urgent 2", "a1", "b1", "server 1", "server 2", "server 3"])
        #expect(queue.senders == 0)
    }

    @Test("nobody is refused for items that do not count")
    func uncounted() {
        // Given
        var queue = Queue(limit: 2, senderLimit: 1)
        for number in 1...3 {
            let isAccepted = queue.add("step \(number)", of: "a", isContinuation: true, isCounted: false)
            #expect(isAccepted)
        }
        // When
        let accepted = [queue.add("a1", of: "a"), queue.add("a2", of: "a"), queue.add("b1", of: "b"), queue.add("c1", of: "c")]
        // Then
        #expect(accepted == [true, false, true, false] && queue.pending == 5)
        // When all have ended
        let items = queue.drain()
        // Then nothing counts any more
        #expect(items == ["step 1", "b1", "step 2", "step 3", "a1"] && queue.senders == 0 && queue.pending == 0)
        let later = [queue.add("a1", of: "a"), queue.add("b1", of: "b")]
        #expect(later == [true, true])
    }

    @Test("a sender at its limit is refused, and others only at the limit of all")
    func limits() {
        // Given
        var queue = Queue(limit: 4, senderLimit: 2)
        // When
        let accepted = queue.add("a1", "a2", "a3", "b1", "b2", "b3", "c1")
        let items = queue.drain()
        let acceptedThen = queue.add("a4", "c2")
        // Then
        #expect(accepted == [true, true, false, true, true, false, false])
        #expect(items == ["a1", "b1", "a2", "b2"])
        #expect(acceptedThen == [true, true])
    }

    @Test("an item that runs counts, and its continuation is accepted at the limit")
    func continuation() {
        // Given a sender at its limit, one of whose items runs
        var queue = Queue(limit: 2, senderLimit: 2)
        _ = queue.add("a1", "a2")
        let first = queue.next()
        #expect(first?.work == "a1" && first?.sender == "a" && queue.waiting == 1 && queue.pending == 2)
        // When it goes on
        let whileItRuns = queue.add("a3")
        let isContinuationAccepted = queue.add("a1 again", of: "a", isContinuation: true)
        queue.finish("a")
        let afterIt = queue.add("a3")
        let items = queue.drain()
        // Then the sender has as many items as before
        #expect(isContinuationAccepted && whileItRuns == [false] && afterIt == [false])
        #expect(items == ["a2", "a1 again"] && queue.pending == 0)
    }

    @Test("an item waits for one item of each other sender, although theirs go on without end")
    func noStarvation() {
        // Given three senders with ten items each, all of which go on
        var queue = Queue(limit: 100, senderLimit: 100)
        for number in 1...10 { _ = queue.add("a\(number)", "b\(number)", "c\(number)") }
        func step() -> String? {
            guard let (work, sender, _) = queue.next() else { return nil }
            _ = queue.add(work, of: sender, isContinuation: true)
            queue.finish(sender)
            return work
        }
        for _ in 0..<50 { _ = step() }
        // When
        _ = queue.add("d1")
        let items = (0..<4).map { _ in step() }
        // Then
        #expect(items.last == "d1" && queue.waiting == 31)
    }

    @Test("a sender without items takes no memory")
    func memory() {
        // Given
        var queue = Queue(limit: .max, senderLimit: .max)
        var most = 0
        // When
        for sender in 0..<100 {
            _ = [queue.add("1", of: "\(sender)"), queue.add("2", of: "\(sender)")]
            most = max(most, queue.senders)
            _ = queue.drain()
        }
        // Then
        #expect(most == 1 && queue.senders == 0)
    }
}

extension TurnQueue where Sender == String, Work == String {
    /// Adds items, each of the sender that its first letter names.
    fileprivate mutating func add(_ items: String...) -> [Bool] { items.map { add($0, of: String($0.prefix(1))) } }

    /// Takes and finishes all items that wait.
    fileprivate mutating func drain() -> [String] {
        var items: [String] = []
        while let (work, sender, isCounted) = next() {
            items.append(work)
            finish(sender, isCounted: isCounted)
        }
        return items
    }
}
