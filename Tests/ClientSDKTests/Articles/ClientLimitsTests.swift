import FreshetClient
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

private func start(_ given: SyncClient.Configuration) async throws -> (client: SyncClient, used: Int) {
    var configuration = given
    // article begins
    configuration.following = .cachedRecords
    configuration.memoryLimit = 8 << 20
    configuration.diskLimit = 64 << 20
    configuration.fileLimit = 128 << 20
    let client = try SyncClient(configuration)
    try await client.start()
    let used = await client.statistics().disk.bytes
    // article ends
    return (client, used)
}

private func save(_ product: Product, _ products: SyncedCollection<Product>, show: (String) -> Void) async throws {
    // article begins
    do {
        try await products.setValue(product, forKey: "apple")
    } catch ClientError.diskFull(let path) {
        show("There is no room left on the disk of \(path). Your change was not saved.")
    }
    // article ends
}

@Suite("Article: limits", .timeLimit(.minutes(5)))
struct ClientLimitsTests {
    private let directory = TemporaryDirectory()

    @Test("the settings take effect, and the used sizes are known")
    func settings() async throws {
        // Given
        let fixture = try ServerFixture()
        let (client, used) = try await start(.init(url: fixture.server.url, namespace: "test", storage: .directory(directory.path)))
        // When
        try await client.notes.setValue(Note(text: String(repeating: "x", count: 100_000)), forKey: "1")
        // Then
        #expect(await client.statistics().disk.bytes > used + 90_000)
        await client.stop()
    }

    @Test("a full disk is reported to the user, and no stored data is lost")
    func full() async throws {
        // Given
        let client = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path)) { $0.fileLimit = 512 << 10 }
        try await client.start()
        let products = client.collection("products", of: Product.self)
        var messages: [String] = []
        try await save(Product(name: "Apple", price: 120), products) { messages.append($0) }
        #expect(messages.isEmpty)
        // When
        try await save(Product(name: String(repeating: "x", count: 600_000), price: 120), products) { messages.append($0) }
        // Then
        #expect(messages.count == 1 && messages[0].contains(directory.path))
        #expect(products["apple"]?.value?.name == "Apple" && client.status.waitingWrites == 1)
        await client.stop()
    }

    @Test("a value beyond the limit is rejected, a name and a depth beyond it throw")
    func beyond() async throws {
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        let raw = client.rawCollection("files")
        let write = try await raw.setValue(Content(bytes: [UInt8](repeating: 1, count: 16 << 20 + 1), type: "image/png"), forKey: "1")
        let verdict = try await within { try await write.outcome() }
        guard case .rejected(let problem) = verdict else {
            Issue.record("it was taken")
            return
        }
        #expect(problem.code == .tooLarge)
        await #expect(throws: ClientError.self) { try await raw.removeValue(forKey: String(repeating: "x", count: 513)) }
        await #expect(throws: ClientError.self) { try await client.rawCollection("a b").removeValue(forKey: "1") }
        let deep = Array((String(repeating: "[", count: 257) + String(repeating: "]", count: 257)).utf8)
        await #expect(throws: ClientError.self) { try await raw.merge(json: deep, into: "1") }
        await client.stop()
    }
}
