import FreshetClient
import FreshetTestKit
import Testing

/// Durations and numbers at the ends of their types.
@Suite(.timeLimit(.minutes(5))) struct ExtremeTests {
    @Test(
        "a delay beyond a minute is refused, however long it is",
        arguments: [
            Duration.seconds(Int64.max / 1_000) + .milliseconds(900), .seconds(Int64.max), .seconds(Int64.min), .seconds(-1), .seconds(61),
            .seconds(Int64.max) * 18, .seconds(Int64.min) * 18,
        ])
    func delays(delay: Duration) throws {
        let kit = try TestKit()
        for fault in [TestKit.Fault.delayRequest(delay), .delayReply(delay)] {
            #expect { try kit.fault(fault) } throws: { "\($0)".contains("it takes 0 to 60 seconds") }
        }
    }

    @Test("a wait may be as long as a Duration can say, or be over at once")
    func waits() async throws {
        // Given
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        // Then
        try await kit.waitUntilIdle(within: .seconds(Int64.max))
        try await kit.waitUntilIdle(within: .seconds(Int64.max) * 18)
        try kit.fault(.dropRequest, of: phone, times: .untilCleared)
        try await phone.notes.setValue(Note(text: "a"), forKey: "1")
        await #expect(throws: TestKitError.self) { try await kit.waitUntilIdle(within: .seconds(-1)) }
        await #expect(throws: TestKitError.self) { try await kit.waitUntilIdle(within: .seconds(Int64.min)) }
        await kit.close()
    }
}
