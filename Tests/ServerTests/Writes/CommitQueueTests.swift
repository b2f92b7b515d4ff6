import FreshetServer
import Testing

@Suite struct CommitQueueTests {
    private static let millisecond: Int64 = 1_000_000
    private static let full = WriteLoad(writes: 4_096)

    /// A queue whose full groups have taken this long each, with no group in progress and no element that waits.
    private func queue(fullGroup milliseconds: Int64) -> CommitQueue<Int> {
        var queue = CommitQueue<Int>()
        for number in 0...40 {
            if number < 40 { queue.append(0, Self.full) }
            _ = queue.nextGroup(now: Int64(number) * milliseconds * Self.millisecond)
        }
        return queue
    }

    @Test func groupsAreTakenInOrderWithinTheirBounds() {
        // Given
        var limits = CommitQueue<Int>.Limits()
        limits.groupWrites = 10
        limits.groupBytes = 100
        var queue = CommitQueue<Int>(limits)
        let loads = [
            WriteLoad(writes: 4), WriteLoad(writes: 6), WriteLoad(writes: 1, bytes: 90), WriteLoad(writes: 1, bytes: 11),
            WriteLoad(writes: 50),
        ]
        // When
        for (element, load) in loads.enumerated() { queue.append(element, load) }
        // Then
        let groups = (1...5).map { _ in queue.nextGroup(now: 0) }
        #expect(groups == [[0, 1], [2], [3], [4], []])
        #expect(queue.count == 0)
    }

    @Test func aLargeInvalidationIsNoShortWrite() {
        // Given an invalidation of 10,000 keys, another one, and two short writes that come after them
        var queue = CommitQueue<Int>()
        for number in 1...2 { queue.append(number, WriteLoad(writes: 10_000)) }
        for number in 3...4 { queue.append(number, WriteLoad(writes: 1_000)) }
        // When groups are taken, Then the short ones wait for none or one of them
        #expect((1...4).map { _ in queue.nextGroup(now: 0) } == [[3, 4], [1], [2], []])
    }

    @Test func whatIsLeftOverAndWhatComesMeanwhileTakeTurns() {
        // Given a group of which a transaction performed one element only
        var queue = CommitQueue<Int>()
        let load = WriteLoad(writes: 1, edits: 1)
        for number in 1...4 { queue.append(number, load) }
        #expect(queue.nextGroup(now: 0) == [1, 2, 3, 4])
        for number in 5...6 { queue.append(number, load) }
        queue.putBack([2, 3, 4].map { ($0, load) }, isFirstBegun: false, touched: 0)
        #expect(queue.count == 5)
        // When each transaction takes one more
        #expect(queue.nextGroup(now: 0) == [2, 3, 4])
        queue.putBack([3, 4].map { ($0, load) }, isFirstBegun: false, touched: 0)
        let second = queue.nextGroup(now: 0)
        queue.putBack([(6, load)], isFirstBegun: false, touched: 0)
        // Then newer elements get their turn in between, and their rest comes after the earlier rest
        #expect(second == [5, 6])
        #expect(queue.nextGroup(now: 0) == [3, 4, 6])
        #expect(queue.nextGroup(now: 0).isEmpty && queue.count == 0)
    }

    @Test("a write behind a heavy batch waits for one part of it, and so does an edit")
    func writesBehindAHeavyBatch() {
        // Given a batch of edits, with a put, an edit and another put behind it
        var queue = CommitQueue<String>()
        let (batch, put, edit) = (WriteLoad(writes: 1_000, edits: 1_000), WriteLoad(writes: 1), WriteLoad(writes: 1, edits: 1))
        for (element, load) in [("batch", batch), ("heavy edit", edit), ("put", put), ("edit", edit), ("other put", put)] {
            queue.append(element, load)
        }
        // When the first transaction does none of the batch, and of the others the first alone, and another put comes
        #expect(queue.nextGroup(now: 0) == ["heavy edit", "put", "edit", "other put"])
        queue.append("late put", put)
        queue.putBack([("put", put), ("edit", edit), ("other put", put)], isFirstBegun: false, touched: 8 << 20)
        // Then the next one goes on with the edits, of which it does a part of the batch
        #expect(queue.nextGroup(now: 0) == ["batch", "edit"])
        queue.putBack([("batch", batch), ("edit", edit)], isFirstBegun: true, touched: 8 << 20)
        // And the next one does the puts, in their order; the rest of the batch is last
        #expect(queue.nextGroup(now: 0) == ["put", "other put", "late put"])
        #expect(queue.nextGroup(now: 0) == ["edit", "batch"])
    }

    @Test("heavy batches take turns")
    func heavyBatchesTakeTurns() {
        // Given two batches of which a transaction does a part
        var queue = CommitQueue<String>()
        let load = WriteLoad(writes: 3_000, edits: 3_000)
        for element in ["a", "b"] { queue.append(element, load) }
        var order: [[String]] = []
        for _ in 0..<4 {
            // When each is left over
            let group = queue.nextGroup(now: 0)
            order.append(group)
            queue.putBack([(group[0], load)], isFirstBegun: true, touched: 8 << 20)
        }
        // Then
        #expect(order == [["a"], ["b"], ["a"], ["b"]])
    }

    @Test("a short write waits for one large one and does not share its transaction")
    func lanes() {
        // Given large elements and short ones that wait
        var queue = CommitQueue<Int>()
        let large = WriteLoad(writes: 140, bytes: 8 << 20)
        let short = WriteLoad(writes: 1, bytes: 100)
        queue.append(1, large)
        queue.append(2, short)
        queue.append(3, large)
        queue.append(4, large)
        // When groups are taken, and another short one comes meanwhile
        var groups = [queue.nextGroup(now: 0), queue.nextGroup(now: 0)]
        queue.append(5, short)
        groups += [queue.nextGroup(now: 0), queue.nextGroup(now: 0), queue.nextGroup(now: 0)]
        // Then the two kinds take turns, and each large one goes alone
        #expect(groups == [[2], [1], [5], [3], [4]])
    }

    @Test func whatTheNextGroupCanTakeIsTakenHoweverSlowTheDisk() {
        // Given a disk that takes ten seconds for a group
        var queue = queue(fullGroup: 10_000)
        let now = 500_000 * Self.millisecond
        queue.append(1, Self.full)
        _ = queue.nextGroup(now: now)
        // When
        queue.append(2, WriteLoad(writes: 4_095))
        // Then
        #expect(queue.accepts(WriteLoad(writes: 1), now: now))
        #expect(!queue.accepts(WriteLoad(writes: 2), now: now))
    }

    @Test func beyondTheNextGroupTheTimeThatItWouldTakeDecides() {
        // Given 100 ms for a group, and one that is half through
        var queue = queue(fullGroup: 100)
        let start = 10_000 * Self.millisecond
        queue.append(1, Self.full)
        _ = queue.nextGroup(now: start)
        let now = start + 50 * Self.millisecond
        // When four more wait, which makes 450 ms
        for element in 2...5 { queue.append(element, Self.full) }
        // Then
        #expect(queue.accepts(WriteLoad(writes: 2_048), now: now))
        #expect(!queue.accepts(WriteLoad(writes: 2_060), now: now))
        // And the group is 100 ms late, so it is expected to take as much again.
        #expect(!queue.accepts(WriteLoad(writes: 2_048), now: start + 200 * Self.millisecond))
    }

    @Test func bytesTakeTimeToo() {
        var queue = queue(fullGroup: 100)
        for element in 1...2 { queue.append(element, WriteLoad(writes: 1, bytes: 16 << 20)) }
        // 32 MiB are 16,384 times 2 KiB, four full groups.
        #expect(queue.accepts(WriteLoad(writes: 1, bytes: 7 << 20), now: 0))
        #expect(!queue.accepts(WriteLoad(writes: 1, bytes: 9 << 20), now: 0))
    }

    @Test func aPauseOfTheDiskIsForgotten() {
        // Given a disk that took 8 s for each group
        var queue = queue(fullGroup: 8_000)
        var now = 400_000 * Self.millisecond
        var refusals = 0
        // When it takes 100 ms again
        for element in 1...20 {
            queue.append(element, Self.full)
            if !queue.accepts(Self.full, now: now) { refusals += 1 }
            _ = queue.nextGroup(now: now)
            now += 100 * Self.millisecond
        }
        // Then
        #expect((1...8).contains(refusals))
    }

    @Test func whatATransactionLeavesOverTellsThePaceOfTheRest() {
        // Given a group of which the transaction did 10 writes in 100 ms
        var queue = CommitQueue<Int>()
        for element in 0..<100 { queue.append(element, WriteLoad(writes: 1)) }
        let group = queue.nextGroup(now: 0)
        queue.putBack(group[10...].map { ($0, WriteLoad(writes: 1)) }, isFirstBegun: false, touched: 0)
        #expect(queue.nextGroup(now: 100 * Self.millisecond).count == 90)
        // When more wait than the next group can take
        queue.append(100, WriteLoad(writes: 4_096))
        // Then they are thought to take some 5 ms each: half of that pace, half of the earlier one
        #expect(!queue.accepts(WriteLoad(writes: 1), now: 100 * Self.millisecond))
    }

    @Test func whatEditsTouchIsAPartOfTheirCost() {
        // Given a group that took 100 ms for one patch, which touched 8 MiB: as much as 4,096 writes without a value
        var queue = CommitQueue<Int>()
        for element in 0..<2 { queue.append(element, WriteLoad(writes: 1)) }
        _ = queue.nextGroup(now: 0)
        queue.putBack([(1, WriteLoad(writes: 1))], isFirstBegun: false, touched: 8 << 20)
        _ = queue.nextGroup(now: 100 * Self.millisecond)
        // When 10,000 writes wait
        queue.append(2, WriteLoad(writes: 10_000))
        // Then they are thought to take some 40 µs each, not 100 ms
        #expect(queue.accepts(WriteLoad(writes: 1), now: 100 * Self.millisecond))
    }

    @Test func untilTheFirstLargeGroupARatherSlowDiskIsAssumed() {
        // Given a disk that is known by small groups only
        var queue = CommitQueue<Int>()
        queue.append(0, WriteLoad(writes: 1))
        _ = queue.nextGroup(now: 0)
        _ = queue.nextGroup(now: 200 * Self.millisecond)
        // Then 10,000 writes are thought to take half a second.
        queue.append(1, WriteLoad(writes: 9_000))
        #expect(queue.accepts(WriteLoad(writes: 1_000), now: 0))
        #expect(!queue.accepts(WriteLoad(writes: 1_001), now: 0))
    }

    @Test func theNumberThatWaitsIsBounded() {
        var queue = CommitQueue<Int>()
        for element in 1...10_000 { queue.append(element, WriteLoad()) }
        #expect(!queue.accepts(WriteLoad(), now: 0))
    }

    @Test func theBytesThatWaitAreBounded() {
        var queue = CommitQueue<Int>()
        for element in 1...17 { queue.append(element, WriteLoad(writes: 1, bytes: 16 << 20)) }
        #expect(!queue.accepts(WriteLoad(writes: 1), now: 0))
    }

    /// Writers over a disk in virtual time.
    private struct Disk {
        /// Milliseconds for a group, whatever it holds, and microseconds for each write.
        var sync: Int64
        var write: Int64

        /// The results of writers in a closed loop over ten seconds: writes, refusals, the longest wait in milliseconds, and
        /// the fewest answers to one writer. A refused writer comes back a second later.
        func run(writers: Int, batch: Int) -> (writes: Int, refused: Int, longest: Int64, fewest: Int) {
            var queue = CommitQueue<(writer: Int, since: Int64)>()
            var due = (0..<writers).map { (time: Int64($0) * 1_000, writer: $0) }[...]
            var (writes, refused, longest) = (0, 0, Int64(0))
            var answers = [Int](repeating: 0, count: writers)
            var now: Int64 = 0
            while now < 10_000_000_000 {
                let group = queue.nextGroup(now: now)
                let end = group.isEmpty ? due.first?.time ?? .max : now + sync * 1_000_000 + Int64(group.count * batch) * write * 1_000
                var back: [(time: Int64, writer: Int)] = []
                while let next = due.first, next.time <= end {
                    due.removeFirst()
                    if queue.accepts(WriteLoad(writes: batch), now: next.time) {
                        queue.append((next.writer, next.time), WriteLoad(writes: batch))
                    } else {
                        refused += 1
                        answers[next.writer] += 1
                        back.append((next.time + 1_000_000_000, next.writer))
                    }
                }
                now = end
                for (writer, since) in group {
                    writes += batch
                    answers[writer] += 1
                    longest = max(longest, now - since)
                    back.append((now + 1_000, writer))
                }
                due = (due + back).sorted { $0.time < $1.time }[...]
            }
            return (writes, refused, longest / 1_000_000, answers.min() ?? 0)
        }
    }

    @Test(arguments: [(0, 20, 1_000), (5, 20, 1_000), (50, 20, 64), (50, 20, 1_000), (300, 100, 64)] as [(Int64, Int64, Int)])
    func writersOfOneEachAreNeverRefused(sync: Int64, write: Int64, writers: Int) {
        let outcome = Disk(sync: sync, write: write).run(writers: writers, batch: 1)
        #expect(outcome.refused == 0)
        #expect(outcome.longest <= 2 * (sync + Int64(writers) * write / 1_000) + 1)
        #expect(outcome.fewest > 0)
    }

    @Test(arguments: [(1, 10), (50, 10), (5, 60)] as [(Int64, Int64)])
    func aStormIsHeldToWhatTheDiskTakesInTime(sync: Int64, write: Int64) {
        // Given a disk of 100,000 writes a second at most, and a thousand writers of a hundred each, which would wait for a second or more
        let group = sync + (4_096 + 99) * write / 1_000
        // When
        let outcome = Disk(sync: sync, write: write).run(writers: 1_000, batch: 100)
        // Then the disk is kept busy, no writer waits for much longer than half a second, and every writer is answered.
        #expect(outcome.refused > 1_000)
        #expect(outcome.longest <= 500 + 2 * group)
        #expect(outcome.writes >= Int(9_000 * 4_096 / group))
        #expect(outcome.fewest >= 4)
    }
}
