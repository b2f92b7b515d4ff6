import FreshetClient
import Testing

@Suite struct StatusTests {
    @Test func aWriteIsInTheStatusAsSoonAsItsReceiptIsThere() async throws {
        // Given a client that reaches no server
        let client = try ServerFixture.client("http://127.0.0.1:1")
        try await client.start()
        for number in 1...300 {
            // When
            try await client.notes.setValue(Note(text: "\(number)"), forKey: "\(number)")
            // Then
            #expect(client.status.waitingWrites == number)
        }
        await client.stop()
    }

    @Test func aVerdictIsInTheStatusAsSoonAsItIsThere() async throws {
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        for number in 1...100 {
            try await client.notes.setValue(Note(text: "\(number)"), forKey: "1").waitUntilConfirmed()
            #expect(client.status.waitingWrites == 0)
        }
        await client.stop()
    }
}
