import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

@Suite("Which entries leave a disk that is full")
struct EvictionRoundTests {
    private func candidate(_ row: Int64, bytes: Int = 100, wasUsed: Bool = false, isEvictable: Bool = true) -> EvictionCandidate {
        EvictionCandidate(row: row, key: Sample.key("a/\(row)"), bytes: bytes, wasUsed: wasUsed, isEvictable: isEvictable)
    }

    private func chosen(
        _ round: inout EvictionRound, _ candidates: [EvictionCandidate], newest: Int64 = 100, _ bytes: Int, needed: Set<Int64> = [],
        inMemory: Set<Int64> = []
    ) -> [[Int64]] {
        func keys(_ rows: Set<Int64>) -> Set<RecordKey> { Set(rows.map { Sample.key("a/\($0)") }) }
        let choice = round.choose(
            from: candidates, newest: newest, toFree: bytes, isNeeded: { keys(needed).contains($0) },
            isInMemory: { keys(inMemory).contains($0) })
        return [choice.victims.map(\.row), choice.retained]
    }

    @Test("the oldest, and no more of them than free the bytes")
    func oldest() {
        var round = EvictionRound(newest: 9)
        #expect(chosen(&round, (1...9).map { candidate($0) }, 201) == [[1, 2, 3], []])
        #expect(chosen(&round, (4...9).map { candidate($0, bytes: 1_000) }, 1) == [[4], []])
    }

    @Test("rows that are used, needed, beyond the cursor, or in memory are spared")
    func retained() {
        var round = EvictionRound(newest: 6)
        let candidates = [
            candidate(1, wasUsed: true), candidate(2), candidate(3, isEvictable: false), candidate(4), candidate(5), candidate(6),
            candidate(7),
        ]
        #expect(chosen(&round, candidates, 10_000, needed: [2], inMemory: [4]) == [[5, 6], [1, 2, 3, 4]])
        #expect(!round.isExhausted)
    }

    @Test("a row in memory is evicted in the second lap, a needed one never, and then the round is hopeless")
    func laps() {
        // Given rows of which one is needed and one in memory
        var round = EvictionRound(newest: 3)
        #expect(
            chosen(&round, [candidate(1), candidate(2), candidate(3, isEvictable: false)], 1_000, needed: [1], inMemory: [2]) == [
                [], [1, 2, 3],
            ])
        // When all have been looked at
        let later = [candidate(4), candidate(5), candidate(6, isEvictable: false)]
        #expect(chosen(&round, later, newest: 6, 1_000, needed: [4], inMemory: [5]) == [[], []])
        #expect(!round.isExhausted)
        // Then
        #expect(chosen(&round, later, newest: 6, 1_000, needed: [4], inMemory: [5]) == [[5], [4, 6]])
        #expect(!round.isExhausted)
        #expect(chosen(&round, [candidate(7), candidate(8, isEvictable: false)], newest: 8, 1_000) == [[], []])
        #expect(round.isExhausted)
    }

    @Test("where there is nothing it is hopeless too")
    func nothing() {
        var round = EvictionRound(newest: 0)
        for _ in 0..<2 { #expect(chosen(&round, [], newest: 0, 1_000) == [[], []]) }
        #expect(round.isExhausted)
    }
}
