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

    @Test func nothingIsDecidedForNothing() throws {
        var ledger = WriteLedger(last: 6)
        #expect(try ledger.decide([]).isEmpty)
    }
}
