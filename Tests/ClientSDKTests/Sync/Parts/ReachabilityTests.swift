import FreshetWire
import Testing

@testable import FreshetClient

@Suite("The contact with the server") struct ReachabilityTests {
    private static let failure = SyncStatus.Trouble.transport(.watchdog)

    @Test("it is lost since the server answered last, and stays lost since then")
    func lostSinceTheLastAnswer() {
        // Given
        var reachability = Reachability()
        reachability.heard(PartSupport.turn(at: 5_000))
        // When
        reachability.lost(Self.failure, PartSupport.turn(at: 9_000))
        reachability.lost(Self.failure, PartSupport.turn(at: 60_000))
        // Then
        #expect(reachability.isLost && reachability.lostAt == Timestamp(milliseconds: 5_000))
    }

    @Test("a device that was never answered is offline since its first failure")
    func neverAnswered() {
        // Given
        var reachability = Reachability()
        #expect(!reachability.isLost)
        // When
        reachability.lost(Self.failure, PartSupport.turn(at: 7_000))
        reachability.lost(Self.failure, PartSupport.turn(at: 8_000))
        // Then
        #expect(reachability.lostAt == Timestamp(milliseconds: 7_000))
    }

    @Test("a refusal is an answer, but does not restore lost contact")
    func refusalIsAnAnswer() {
        // Given
        var reachability = Reachability()
        reachability.heard(PartSupport.turn(at: 1_000))
        // When the server refuses, and then cannot be reached
        reachability.touched(PartSupport.turn(at: 4_000))
        reachability.lost(Self.failure, PartSupport.turn(at: 6_000))
        // Then
        #expect(reachability.lostAt == Timestamp(milliseconds: 4_000))
        // When
        reachability.touched(PartSupport.turn(at: 7_000))
        // Then
        #expect(reachability.isLost && reachability.trouble == Self.failure)
    }

    @Test("an answer ends the loss and the trouble")
    func answerEndsTheLoss() {
        // Given
        var reachability = Reachability()
        reachability.lost(Self.failure, PartSupport.turn(at: 1_000))
        // When
        reachability.heard(PartSupport.turn(at: 2_000))
        // Then
        #expect(!reachability.isLost && reachability.trouble == nil)
        // When
        reachability.lost(Self.failure, PartSupport.turn(at: 3_000))
        // Then
        #expect(reachability.lostAt == Timestamp(milliseconds: 2_000))
    }
}
