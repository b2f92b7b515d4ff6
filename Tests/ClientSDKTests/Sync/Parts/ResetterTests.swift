import FreshetWire
import Testing

@testable import FreshetClient

@Suite("Resets and clears to come") struct ResetterTests {
    private func clear(_ callerID: Int64) throws -> Resetter.Clear {
        Resetter.Clear(client: try ClientIdentifier("next"), callerID: CallerID(callerID))
    }

    @Test("the first reset is due at once, those that follow wait until a poll has shown that the history lasts")
    func stormWaits() {
        // Given
        var resetter = Resetter()
        var turn = PartSupport.turn(at: 1_000)
        // When
        resetter.add(Epoch("b"), forgets: false, &turn)
        // Then
        #expect(resetter.dueReset(turn)?.epoch == Epoch("b"))
        resetter.resetStored()
        // When
        resetter.add(Epoch("c"), forgets: false, &turn)
        // Then
        #expect(resetter.dueReset(turn) == nil && resetter.isUnderWay)
        #expect(resetter.dueReset(PartSupport.turn(at: resetter.deadline ?? 0)) != nil)
        // When
        resetter.resetStored()
        resetter.calm()
        resetter.add(Epoch("d"), forgets: false, &turn)
        // Then
        #expect(resetter.dueReset(turn) != nil)
    }

    @Test("a clear takes the place of a reset and of an earlier clear")
    func clearGoesFirst() throws {
        // Given
        var resetter = Resetter()
        var turn = PartSupport.turn()
        resetter.add(nil, forgets: false, &turn)
        // When
        #expect(resetter.add(try clear(1), after: 0) == nil)
        // Then
        #expect(resetter.dueReset(turn) == nil && resetter.dueClear(turn) != nil)
        #expect(resetter.add(try clear(2), after: 0) == CallerID(1))
        #expect(resetter.dueClear(turn)?.callerID == CallerID(2))
        resetter.cleared()
        #expect(!resetter.isUnderWay)
    }

    @Test("a clear that the disk refuses is tried again after a while")
    func diskFails() throws {
        var resetter = Resetter()
        var turn = PartSupport.turn(at: 1_000)
        _ = resetter.add(try clear(1), after: 0)
        resetter.notStored(&turn)
        #expect(resetter.dueClear(turn) == nil && resetter.dueClear(PartSupport.turn(at: resetter.deadline ?? 0)) != nil)
    }
}
