import FreshetWire
import Testing

@testable import FreshetClient

@Suite("The requests under way") struct RequestTableTests {
    private func send(_ table: inout RequestTable, at uptime: Int64, timeout: Int64 = 30_000, fetching key: String? = nil) -> RequestID {
        var turn = PartSupport.turn(at: uptime)
        let purpose: RequestTable.Purpose = key.map { .fetch([Scene.key($0)]) } ?? .clientStatus
        return table.send(
            .record(Scene.key("c/1"), known: nil), for: purpose, needsFreshToken: false, timeout: timeout, &turn)
    }

    @Test("an id is given once, and stamped with the generation")
    func ids() {
        // Given
        var table = RequestTable()
        // When
        let first = send(&table, at: 0)
        table.beginGeneration()
        let second = send(&table, at: 0)
        // Then
        #expect(first.generation == 0 && second.generation == 1 && first < second)
        #expect(table.remove(first) != nil && table.remove(first) == nil)
        #expect(send(&table, at: 0) > second && table.sentCount == 3)
    }

    @Test("the watchdog fires on those whose deadline is over, in the order in which they were sent")
    func overdue() {
        // Given
        var table = RequestTable()
        let late = send(&table, at: 0, timeout: 9_000)
        let early = send(&table, at: 0, timeout: 5_000)
        // Then
        #expect(table.deadline == 5_000)
        #expect(table.overdue(at: 4_999).isEmpty && table.overdue(at: 5_000) == [early] && table.overdue(at: 9_000) == [late, early])
    }

    @Test("reads are distinguished from other requests")
    func fetches() {
        var table = RequestTable()
        _ = send(&table, at: 0)
        let read = send(&table, at: 0, fetching: "c/1")
        #expect(table.fetches == [read])
    }
}
