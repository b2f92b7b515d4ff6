import FreshetWire
import Testing

@testable import FreshetClient

@Suite("Writes on their way to the disk") struct IntakeTests {
    private func request(_ token: Int64, _ key: String) -> SetRequest {
        SetRequest(token: Token(token), key: Scene.key(key), operation: .delete, base: nil)
    }

    private func entry(_ key: String, _ revision: Int64) -> Entry {
        Entry(
            key: Scene.key(key), epoch: Scene.position(1).epoch, revision: Scene.revision(revision), asOf: Scene.revision(revision),
            pass: 1,
            content: Scene.json("1"), verifiedAt: Timestamp(milliseconds: 0), origin: .feed)
    }

    @Test("a key is claimed until the last of its writes is on disk")
    func claims() {
        // Given
        var intake = Intake()
        for token in 1...2 as ClosedRange<Int64> { intake.add(request(token, "c/1"), base: nil) }
        // When all are taken, then the claim stays
        let taken = intake.takeAll()
        #expect(taken.map(\.token) == [Token(1), Token(2)] && intake.isEmpty && intake.claims(Scene.key("c/1")))
        intake.release(taken[0])
        #expect(intake.claims(Scene.key("c/1")))
        intake.release(taken[1])
        #expect(intake.claimCount == 0)
    }

    @Test("the record under a waiting write follows the disk")
    func baseFollows() {
        // Given
        var intake = Intake()
        intake.add(request(1, "c/1"), base: entry("c/1", 4))
        // When
        intake.apply([.put(entry("c/1", 7), onlyIfHeld: false), .put(entry("c/2", 9), onlyIfHeld: false)])
        // Then
        #expect(intake.base(of: Scene.key("c/1"))?.revision == Scene.revision(7) && intake.base(of: Scene.key("c/2")) == nil)
    }
}
