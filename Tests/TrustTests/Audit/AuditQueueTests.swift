import Testing

@testable import FreshetTrust

@Suite("Queue of the audit log") struct AuditQueueTests {
    private var queue = AuditQueue<Int>()

    @Test("The first line starts the writer, which takes all lines and ends when there are none")
    mutating func writer() {
        #expect(queue.add(AuditRecord(.keyCreated, time: 1), 1) == .start)
        #expect(queue.add(AuditRecord(.keyCreated, time: 2), 2) == .wait)
        #expect(queue.take().map(\.waiter) == [1, 2])
        // When another line comes while the writer is at work
        #expect(queue.add(AuditRecord(.keyCreated, time: 3)) == .wait)
        #expect(queue.take().map(\.record.time) == [3])
        #expect(queue.take().isEmpty)
        // Then the next one starts it again
        #expect(queue.add(AuditRecord(.keyCreated, time: 4)) == .start)
    }

    @Test("Lines beyond the bound are counted, until a record of them was written")
    mutating func bound() {
        for number in 0..<AuditQueue<Int>.maximumCount + 7 {
            let admission = queue.add(AuditRecord(.keyCreated, time: Int64(number)))
            #expect((admission == .lose) == (number >= AuditQueue<Int>.maximumCount))
        }
        #expect(queue.lossRecord(at: 9)?.count == 7 && queue.lossRecord(at: 9)?.event == .linesLost)
        #expect(queue.take().count == AuditQueue<Int>.maximumCount)
        // When more are lost while the record is written
        queue.lose(2)
        queue.wrote(5, lostBefore: 7)
        // Then the next record states those
        #expect(queue.lossRecord(at: 9)?.count == 2 && queue.lostInAll == 9 && queue.written == 5)
        queue.wrote(0, lostBefore: 2)
        #expect(queue.lossRecord(at: 9) == nil)
    }
}
