// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// Every case of `docs/decisions/0038-overlay.md`, in its order.
@Suite("The rule for leaving the overlay") struct OverlayRuleTests {
    struct Case: CustomStringConvertible, Sendable {
        var state: OutboxRow.State
        var watermark: WriteWatermark?
        var isRecordKnown: Bool
        var expected: OverlayStanding

        var description: String { "\(state), watermark \(String(describing: watermark)), record known: \(isRecordKnown)" }
    }

    /// The row is write 5, the present history is `b`, and `a` came before it.
    private static func watermark(_ epoch: String, _ number: Int64) -> WriteWatermark {
        WriteWatermark(epoch: Epoch(epoch)!, number: number)
    }

    private static let before = watermark("b", 4), at = watermark("b", 5), after = watermark("b", 9)
    private static let oldBefore = watermark("a", 4), oldAt = watermark("a", 5)

    private static let cases: [Case] = {
        var cases: [Case] = []
        func add(_ states: [OutboxRow.State], _ watermarks: [WriteWatermark?], known: OverlayStanding, unknown: OverlayStanding) {
            for state in states {
                for watermark in watermarks {
                    cases.append(Case(state: state, watermark: watermark, isRecordKnown: true, expected: known))
                    cases.append(Case(state: state, watermark: watermark, isRecordKnown: false, expected: unknown))
                }
            }
        }
        func decided(_ epoch: String) -> [OutboxRow.State] {
            [.applied(Scene.position(12, epoch)), .settled(Scene.position(12, epoch))]
        }
        let a = Epoch("a"), b = Epoch("b")
        add([.pending, .held, .merging(nil), .merging(a), .merging(b)], [nil], known: .replayed, unknown: .replayed)
        add(decided("a") + decided("b"), [nil], known: .replayed, unknown: .replayed)
        add([.pending, .held, .merging(nil)], [before, oldBefore], known: .replayed, unknown: .replayed)
        add([.pending, .held, .merging(nil)], [at, after, oldAt], known: .included, unknown: .replayed)
        add([.merging(b)], [before, at, after, oldBefore], known: .replayed, unknown: .replayed)
        add([.merging(b)], [oldAt], known: .included, unknown: .replayed)
        add([.merging(a)], [oldBefore, oldAt, before], known: .replayed, unknown: .replayed)
        add([.merging(a)], [at, after], known: .included, unknown: .replayed)
        add(decided("b"), [before], known: .replayed, unknown: .replayed)
        add(decided("b"), [at, after], known: .finished, unknown: .finished)
        add(decided("a"), [before, at, after], known: .finished, unknown: .finished)
        add(decided("b"), [oldBefore], known: .replayed, unknown: .replayed)
        add(decided("b"), [oldAt], known: .included, unknown: .replayed)
        add(decided("a"), [oldBefore], known: .replayed, unknown: .replayed)
        add(decided("a"), [oldAt], known: .finished, unknown: .finished)
        return cases
    }()

    @Test(arguments: cases) func standing(_ example: Case) {
        // Given
        let row = OutboxRow(
            writeID: LocalWriteID(1), number: 5, key: Scene.key("c/1"), operation: .delete, state: example.state,
            created: Timestamp(milliseconds: 0))
        // When
        let standing = row.standing(at: example.watermark, isRecordKnown: example.isRecordKnown, in: Epoch("b"))
        // Then
        #expect(standing == example.expected)
    }

    @Test("a page of another history must state the number also for a write that waits for its merge")
    func mergingNeedsTheNumber() {
        // Given a record of history a that contains the write, which history b rejected
        let row = OutboxRow(
            writeID: LocalWriteID(1), number: 5, key: Scene.key("c/1"), operation: .delete, state: .merging(Epoch("b")),
            created: Timestamp(milliseconds: 0))
        let base = Entry(
            key: row.key, epoch: Epoch("b")!, revision: Scene.revision(4), asOf: Scene.revision(4), pass: 1, content: nil,
            verifiedAt: Timestamp(milliseconds: 0), origin: .feed)
        func needs(_ watermark: WriteWatermark?, over base: Entry?) -> Bool {
            PendingKey(key: row.key, base: base, watermark: watermark, rows: [row]).needsWatermark(in: Epoch("b"), lastSentNumber: 5)
        }
        // Then a record of b needs the number, or the watermark of a would hide the write
        #expect(needs(Self.oldAt, over: base) && needs(Self.before, over: base) && needs(nil, over: base))
        #expect(!needs(Self.at, over: base))
        // And the first record after one that is gone, which it may be older than
        #expect(needs(Self.at, over: nil))
    }

    @Test("the table has every combination once")
    func tableIsComplete() {
        // 9 states, 6 watermarks, and a record that is known or not
        #expect(Self.cases.count == 9 * 6 * 2)
        #expect(Set(Self.cases.map(\.description)).count == Self.cases.count)
    }
}
