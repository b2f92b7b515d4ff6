import FreshetServer
import Testing

@Suite struct WriteLedgerTests {
    @Test func theNextNumbersAreApplied() throws {
        var ledger = WriteLedger(last: 0)
        #expect(try ledger.decide([1, 2, 3]) == [.apply, .apply, .apply])
        #expect(ledger.last == 3)
        #expect(ledger.settled == 0)
    }

    @Test func aNumberThatWasDecidedIsAnsweredFromWhatIsKept() throws {
        var ledger = WriteLedger(last: 1_500)
        #expect(try ledger.decide([500, 501, 1_500, 1_501]) == [.settled, .replay, .replay, .apply])
        #expect(ledger.last == 1_501)
        #expect(ledger.settled == 501)
    }

    @Test func aNumberThatComesTwiceIsAppliedOnce() throws {
        var ledger = WriteLedger(last: 6)
        #expect(try ledger.decide([7, 7, 6, 8]) == [.apply, .replay, .replay, .apply])
    }

    @Test func aGapIsToldWithTheNumberExpectedAndLeavesTheLedgerAlone() {
        var ledger = WriteLedger(last: 6)
        #expect(throws: WriteLedger.Gap(number: 9, expected: 8)) { try ledger.decide([7, 9]) }
        #expect(throws: WriteLedger.Gap(number: 8, expected: 7)) { try ledger.decide([8]) }
        #expect(ledger.last == 6)
    }

    @Test func aNumberThatResumesIsTheNextAndSaysWhichItLeavesOut() throws {
        var ledger = WriteLedger(last: 6)
        #expect(ledger.resume(at: 41) == 7...40)
        #expect(try ledger.decide([41, 42, 41]) == [.apply, .apply, .replay])
        #expect(ledger.last == 42)
        #expect(ledger.settled == 0)
        #expect(try ledger.decide([6, 40, 41]) == [.replay, .replay, .replay])
    }

    @Test(arguments: [1, 6, 7] as [Int64]) func resumingWhereNothingIsLeftOutChangesNothing(number: Int64) {
        var ledger = WriteLedger(last: 6)
        #expect(ledger.resume(at: number) == nil)
        #expect(ledger == WriteLedger(last: 6))
    }

    @Test func theHighestNumberIsNoCrash() throws {
        var ledger = WriteLedger(last: 6)
        #expect(ledger.resume(at: .max) == 7...(Int64.max - 1))
        #expect(try ledger.decide([.max, .max, 1]) == [.apply, .replay, .settled])
        #expect(ledger.last == .max)
        #expect(try ledger.decide([.max]) == [.replay])
    }

    @Test func nothingIsDecidedForNothing() throws {
        var ledger = WriteLedger(last: 6)
        #expect(try ledger.decide([]).isEmpty)
    }
}
