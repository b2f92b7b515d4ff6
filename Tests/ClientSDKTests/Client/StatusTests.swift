import FreshetClient
import FreshetTestSupport
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

    @Test("the sequence of statuses ends when the client is released")
    func end() async throws {
        // Given the statuses of a running client that nothing else holds
        var client: SyncClient? = try ServerFixture.client("http://127.0.0.1:1")
        try await client?.start()
        let statuses = try #require(client?.statuses)
        // When
        client = nil
        // Then
        let last = try await within {
            var last: SyncClient.Status?
            for await status in statuses { last = status }
            return last
        }
        #expect(last?.connection == .stopped)
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
