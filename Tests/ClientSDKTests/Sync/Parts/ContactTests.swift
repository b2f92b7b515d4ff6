import FreshetWire
import Testing

@testable import FreshetClient

@Suite("The contact with the server") struct ContactTests {
    private static let failure = SyncStatus.Trouble.transport(.watchdog)

    @Test("it is lost since the server answered last, and stays lost since then")
    func lostSinceTheLastAnswer() {
        // Given
        var contact = Contact()
        contact.heard(PartSupport.turn(at: 5_000))
        // When
        contact.lost(Self.failure, PartSupport.turn(at: 9_000))
        contact.lost(Self.failure, PartSupport.turn(at: 60_000))
        // Then
        #expect(contact.isLost && contact.lostAt == Timestamp(milliseconds: 5_000))
    }

    @Test("a device that was never answered is offline since its first failure")
    func neverAnswered() {
        // Given
        var contact = Contact()
        #expect(!contact.isLost)
        // When
        contact.lost(Self.failure, PartSupport.turn(at: 7_000))
        contact.lost(Self.failure, PartSupport.turn(at: 8_000))
        // Then
        #expect(contact.lostAt == Timestamp(milliseconds: 7_000))
    }

    @Test("a refusal is an answer, but does not restore lost contact")
    func refusalIsAnAnswer() {
        // Given
        var contact = Contact()
        contact.heard(PartSupport.turn(at: 1_000))
        // When the server refuses, and then cannot be reached
        contact.touched(PartSupport.turn(at: 4_000))
        contact.lost(Self.failure, PartSupport.turn(at: 6_000))
        // Then
        #expect(contact.lostAt == Timestamp(milliseconds: 4_000))
        // When
        contact.touched(PartSupport.turn(at: 7_000))
        // Then
        #expect(contact.isLost && contact.trouble == Self.failure)
    }

    @Test("an answer ends the loss and the trouble")
    func answerEndsTheLoss() {
        // Given
        var contact = Contact()
        contact.lost(Self.failure, PartSupport.turn(at: 1_000))
        // When
        contact.heard(PartSupport.turn(at: 2_000))
        // Then
        #expect(!contact.isLost && contact.trouble == nil)
        // When
        contact.lost(Self.failure, PartSupport.turn(at: 3_000))
        // Then
        #expect(contact.lostAt == Timestamp(milliseconds: 2_000))
    }
}
