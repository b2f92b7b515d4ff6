import FreshetWire
import Testing

@testable import FreshetServer

@Suite("The writes of a request") struct NumberedWriteItemsTests {
    @Test func theRestOfABatchKeepsItsProblems() throws {
        // Given four writes, of which those of "b" are refused
        let writes = try zip(1..., ["a/1", "b/1", "a/2", "b/2"]).map { number, key in
            Write(number: Int64(number), key: try RecordKey(key), operation: .delete)
        }
        let refusal = Problem(.forbidden, "The key may not write b.")
        let items = NumberedWrites.Items(writes) { $0.key.collection == "b" ? refusal : nil }

        // When a transaction has decided the first of them, or three
        let (three, one) = (items.suffix(from: 1), items.suffix(from: 3))

        // Then the others are in their order, each with its problem
        #expect(three.writes.map(\.number) == [2, 3, 4])
        #expect((0..<3).map { three.problem(at: $0) } == [refusal, nil, refusal])
        #expect(one.writes.map(\.number) == [4])
        #expect(one.problem(at: 0) == refusal)
    }

    @Test func aWriteIsAppliedUnderTheRevisionThatItStates() throws {
        // Given a write under a revision, and one without
        let key = try RecordKey("a/1")
        let items = NumberedWrites.Items([
            Write(number: 1, key: key, operation: .delete, ifRevision: .zero), Write(number: 2, key: key, operation: .delete),
        ]) { _ in nil }

        // Then each has its own preconditions, unless a single write brings others
        #expect(items.preconditions(at: 0) == [.revision(.zero)])
        #expect(items.preconditions(at: 1) == [])
        let single = NumberedWrites.Items(items.writes[1], if: [.exists], problem: nil)
        #expect(single.preconditions(at: 0) == [.exists])
    }
}
