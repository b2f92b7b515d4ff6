import FreshetClient
import FreshetTestSupport
import Testing

private func report(_ client: SyncClient, show: (String) -> Void) async throws {
    // article begins
    let status = client.status
    show("connection: \(status.connection), \(status.waitingWrites) writes wait")
    if let error = status.feedError { show("following: \(error)") }
    if let error = status.writeError { show("sending: \(error)") }
    for (collection, count) in status.missingMergeClosures { show("\(count) writes wait for the merge closure of \(collection)") }
    show(try await client.rawCollection("products").explain("apple").description)
    // article ends
}

@Suite("Article: troubleshooting", .timeLimit(.minutes(5)))
struct TroubleshootingTests {
    @Test("the lines say that the server is away, that a write waits, and what it writes")
    func runs() async throws {
        // Given
        let client = try ServerFixture.client("http://127.0.0.1:9")
        try await client.start()
        try await client.collection("products").setValue(Product(name: "Apple", price: 120), forKey: "apple")
        try await client.offline()
        // When
        var lines: [String] = []
        try await report(client) { lines.append($0) }
        // Then
        #expect(lines.first?.hasSuffix(", 1 writes wait") == true)
        #expect(lines.contains { $0.hasPrefix("following: the server cannot be reached") })
        #expect(lines.last?.hasPrefix("products/apple: ") == true && lines.last?.contains("pending") == true)
        await client.stop()
    }
}
