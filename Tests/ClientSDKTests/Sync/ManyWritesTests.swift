import FreshetWire
import Testing

@testable import FreshetClient

/// Many writes of one record that wait: the cost of each does not depend on the others.
@Suite struct ManyWritesTests {
    private static func increment() throws -> WriteOperation { .increment(Increment(path: try JSONPointer("/n"), by: .integer(1))) }

    @Test("the overlay after each added write is that of all writes together")
    func overlay() throws {
        // Given a record
        let increment = try Self.increment()
        var pending = PendingKey(key: Scene.key("c/1"), base: PartSupport.entry("c/1", 5, value: #"{"n":1}"#))
        for number in 1...100 as ClosedRange<Int64> {
            // When a write is added with the overlay that it makes
            var overlay = pending.overlay
            try overlay.apply(increment)
            pending.append(PartSupport.row(number, "c/1", increment), showing: overlay)
            // Then that is what replaying all writes makes
            let replayed = PendingKey(key: pending.key, base: pending.base, rows: Array(pending.rows))
            #expect(pending.view == replayed.view && pending == replayed)
        }
        #expect(pending.view.value == .content(Scene.json(#"{"n":101}"#)))
        // And when the record or a write changes, it is replayed again
        pending.apply(.put(PartSupport.entry("c/1", 6, value: #"{"n":50}"#), onlyIfCached: false))
        #expect(pending.view.value == .content(Scene.json(#"{"n":150}"#)))
        pending.rows.remove(at: pending.rows.startIndex)
        #expect(pending.view.value == .content(Scene.json(#"{"n":149}"#)))
    }

    @Test("a write behind 10,000 that wait takes one row to the disk, and a verdict one operation")
    func operations() throws {
        // Given
        let increment = try Self.increment()
        let rows = (1...10_000 as ClosedRange<Int64>).map { PartSupport.row($0, "c/1", increment) }
        let old = PendingKey(key: Scene.key("c/1"), base: nil, rows: rows)
        // When
        var new = old
        new.append(PartSupport.row(10_001, "c/1", increment), showing: old.overlay)
        let place = try #require(new.rows.index(number: 3, writeID: LocalWriteID(3)))
        new.rows[place].state = .applied(Scene.position(7))
        // Then
        let writeIDs = new.operations(since: old).map { operation -> Int64? in
            if case .put(let row) = operation { row.writeID.number } else { nil }
        }
        #expect(writeIDs == [3, 10_001])
    }

    @Test("the queue of an outbox that is loaded has all writes in the order of their numbers")
    func loading() {
        // Given writes of several keys, one of them decided
        var rows = (1...300 as ClosedRange<Int64>).map { PartSupport.row($0, "c/\($0 % 7)") }
        rows[9].state = .applied(Scene.position(4))
        // When
        var outbox = PartSupport.outbox(rows)
        // Then
        let undecided = (1...300 as ClosedRange<Int64>).filter { $0 != 10 }
        #expect(outbox.queue.map(\.number) == undecided)
        #expect(outbox.pendingCount == 299 && outbox.keysAwaitingBase == [Scene.key("c/3")])
        // And when those of one key leave, the others stay
        var pending = outbox.keys[Scene.key("c/1")] ?? PendingKey(key: Scene.key("c/1"), base: nil)
        pending.rows.removeAll { $0.number < 100 }
        outbox.put(pending)
        let others = (1...300 as ClosedRange<Int64>).filter { $0 != 10 && ($0 % 7 != 1 || $0 >= 100) }
        #expect(outbox.queue.map(\.number) == others)
        for place in outbox.queue { #expect(outbox.row(at: place)?.number == place.number) }
    }
}
