import Testing

@testable import FreshetSocketHTTP

@Suite("Mailbox")
struct MailboxTests {
    private static var message: LoopMessage { .perform { _ in } }

    @Test("Only the first message to a loop that sleeps has to wake it")
    func wakesOnce() {
        // Given a loop that is awake
        let mailbox = Mailbox()
        var batch: [LoopMessage] = []

        // When a message arrives, Then no wake-up is needed, and the loop does not sleep before handling it
        var answers = [mailbox.add(Self.message), mailbox.fallAsleep()]
        #expect(answers == [false, false])
        mailbox.take(into: &batch)
        #expect(batch.count == 1)

        // When the loop sleeps, Then the first of two messages wakes it
        batch = []
        answers = [mailbox.fallAsleep(), mailbox.add(Self.message), mailbox.add(Self.message)]
        #expect(answers == [true, true, false])
        mailbox.take(into: &batch)
        #expect(batch.count == 2)

        // When a socket wakes it, Then no message has to
        answers = [mailbox.fallAsleep()]
        mailbox.wakeUp()
        answers.append(mailbox.add(Self.message))
        #expect(answers == [true, false])
    }
}
