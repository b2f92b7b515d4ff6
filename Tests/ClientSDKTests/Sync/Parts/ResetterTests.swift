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
        resetter.add(Epoch("b"), forgets: false, .none, &turn)
        // Then
        #expect(resetter.dueReset(turn)?.epoch == Epoch("b"))
        resetter.resetStored()
        // When
        resetter.add(Epoch("c"), forgets: false, .none, &turn)
        // Then
        #expect(resetter.dueReset(turn) == nil && resetter.isUnderWay)
        #expect(resetter.dueReset(PartSupport.turn(at: resetter.deadline ?? 0)) != nil)
        // When
        resetter.resetStored()
        resetter.calm()
        resetter.add(Epoch("d"), forgets: false, .none, &turn)
        // Then
        #expect(resetter.dueReset(turn) != nil)
    }

    @Test("a clear takes the place of a reset and of an earlier clear")
    func clearGoesFirst() throws {
        // Given
        var resetter = Resetter()
        var turn = PartSupport.turn()
        resetter.add(nil, forgets: false, .none, &turn)
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

    @Test("a reset to another history waits for the answer where the device continues, and asks again after a lost connection")
    func asksWhereToContinue() throws {
        // Given
        var (resetter, requests, turn) = (Resetter(), RequestTable(), PartSupport.turn())
        resetter.add(Epoch("b"), forgets: false, .unknown, &turn)
        #expect(resetter.dueReset(turn) == nil)
        // When
        resetter.advance(PartSupport.state(at: 10), &requests, &turn)
        resetter.advance(PartSupport.state(at: 10), &requests, &turn)
        // Then
        #expect(turn.sent.count == 1)
        guard case .changes(.after(Scene.position(10)), _, 0, 1, nil)? = turn.sent.first?.kind else {
            Issue.record("not asked")
            return
        }
        #expect(resetter.dueReset(turn) == nil)
        // When
        resetter.released()
        resetter.advance(PartSupport.state(at: 10), &requests, &turn)
        // Then
        #expect(turn.sent.count == 2)
        // When
        var problem = Problem(.epochChanged, "another")
        let continuation = Problem.Continuation(fork: Scene.revision(12), cursor: Scene.position(10, "b"))
        problem.continuation = continuation
        resetter.take(.problem(problem, cursor: nil, retryAfter: nil), hadFreshToken: false, &turn)
        // Then
        #expect(resetter.dueReset(turn)?.lineage == .continues(continuation))
    }

    @Test(
        "whatever else the server answers, the whole cache is verified",
        arguments: [
            Reply.garbage("a page"), .noChange(Scene.position(10)),
            .problem(Problem(.epochChanged, "another"), cursor: nil, retryAfter: nil),
        ])
    func verifiesEverything(_ reply: Reply) {
        // Given
        var (resetter, requests, turn) = (Resetter(), RequestTable(), PartSupport.turn())
        resetter.add(Epoch("b"), forgets: false, .unknown, &turn)
        resetter.advance(PartSupport.state(at: 10), &requests, &turn)
        // When
        resetter.take(reply, hadFreshToken: false, &turn)
        // Then
        #expect(resetter.dueReset(turn)?.lineage == Resetter.Lineage.none)
    }

    @Test("a server without time is asked again, later each time, and at last everything is verified")
    func asksAgain() {
        // Given
        var (resetter, requests, turn) = (Resetter(), RequestTable(), PartSupport.turn())
        resetter.add(Epoch("b"), forgets: false, .unknown, &turn)
        var uptime = turn.now.uptime
        for reply in [
            PartSupport.lost, PartSupport.problem(.overloaded, retryAfter: 2_000), PartSupport.problem(.unauthorized), PartSupport.lost,
        ] {
            resetter.advance(PartSupport.state(at: 10), &requests, &turn)
            // When
            resetter.take(reply, hadFreshToken: false, &turn)
            // Then
            #expect(resetter.dueReset(turn) == nil)
            uptime = max(uptime, resetter.deadline ?? 0)
            turn = PartSupport.turn(at: uptime)
        }
        resetter.advance(PartSupport.state(at: 10), &requests, &turn)
        resetter.take(PartSupport.lost, hadFreshToken: false, &turn)
        #expect(resetter.dueReset(turn)?.lineage == Resetter.Lineage.none)
    }

    @Test("a disk without room for the entries of the new history leads to their verification")
    func noRoom() {
        // Given
        var (resetter, turn) = (Resetter(), PartSupport.turn())
        let continuation = Problem.Continuation(fork: Scene.revision(12), cursor: Scene.position(10, "b"))
        resetter.add(nil, forgets: false, .continues(continuation), &turn)
        // When
        resetter.notStored(&turn)
        // Then
        turn = PartSupport.turn(at: resetter.deadline ?? 0)
        #expect(resetter.dueReset(turn)?.lineage == Resetter.Lineage.none)
    }
}
