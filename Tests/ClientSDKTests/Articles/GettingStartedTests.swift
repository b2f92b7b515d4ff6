import FreshetClient
import FreshetServer
import FreshetTestSupport
import Testing

// article begins
struct Product: Codable, Hashable, Sendable {
    var name: String
    var price: Int  // in cents
}
// article ends

private func start(_ url: String, _ directory: String) async throws -> SyncClient {
    // article begins
    var configuration = SyncClient.Configuration(url: url, namespace: "shop", storage: .directory(directory))
    configuration.following = .everything
    let client = try SyncClient(configuration)
    try await client.start()  // returns when the storage is open; the server may be away

    let products = client.collection("products", of: Product.self)
    let write = try await products.setValue(Product(name: "Apple", price: 120), forKey: "apple")  // on disk, and shown as pending
    try await write.waitUntilConfirmed()  // optional: waits until the server has it
    // article ends
    return client
}

private func list(_ products: SyncedCollection<Product>, draw: ([String: Product]) -> Void) async throws {
    // article begins
    var rows: [String: Product] = [:]
    for try await change in products.changes() {
        for id in change.removed { rows[id] = nil }
        for snapshot in change.inserted + change.updated { rows[snapshot.id] = snapshot.value }
        draw(rows)
    }
    // article ends
}

private func detail(_ products: SyncedCollection<Product>, draw: (String, Bool, SnapshotFreshness?) -> Void) async throws {
    // article begins
    for try await snapshot in products.snapshots(forKey: "apple") {
        guard let product = snapshot.value else { continue }  // no such record, or not known yet
        draw(product.name, snapshot.isPending, snapshot.freshness)
    }
    // article ends
}

// article begins
func statusBar(_ status: SyncClient.Status) -> String {
    var text =
        switch status.connection {
        case .live: "Up to date"
        case .catchingUp: "Updating"
        case .offline: "Offline"
        case .unauthorized: "Please log in again"
        case .forbidden: "No right to read this"
        case .stopped: "Stopped"
        }
    if status.waitingWrites > 0 { text += ", \(status.waitingWrites) to send" }
    if status.rejectedWrites > 0 { text += ", \(status.rejectedWrites) to look at" }
    return text
}
// article ends

private func logOut(_ client: SyncClient) async throws {
    // article begins
    try await client.clear(andStop: true)
    // article ends
}

@Suite("Article: getting started", .timeLimit(.minutes(5)))
struct GettingStartedTests {
    private let directory = TemporaryDirectory()

    @Test("a list and a detail show a change of another device; a log-out leaves nothing")
    func runs() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await start(fixture.server.url, directory.path)
        let other = try fixture.client { $0.namespace = "shop" }
        try await other.start()
        let products = client.collection("products", of: Product.self)
        let (lists, toLists) = AsyncStream.makeStream(of: [String: Product].self)
        let (details, toDetails) = AsyncStream.makeStream(of: String.self)
        let screens = [
            Task { try await list(products) { toLists.yield($0) } },
            Task { try await detail(products) { name, _, _ in toDetails.yield(name) } },
        ]
        _ = try await first(of: lists) { $0 == ["apple": Product(name: "Apple", price: 120)] }
        _ = try await first(of: details) { $0 == "Apple" }
        // When
        try await other.collection("products").setValue(Product(name: "Red apple", price: 130), forKey: "apple")
        // Then
        _ = try await first(of: lists) { $0 == ["apple": Product(name: "Red apple", price: 130)] }
        _ = try await first(of: details) { $0 == "Red apple" }
        // When
        try await logOut(client)
        // Then the screens end with the client, and nothing is shown without a server
        for screen in screens { try await within { try await screen.value } }
        let next = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path)) { $0.namespace = "shop" }
        try await next.start()
        #expect(try await next.collection("products", of: Product.self).all(policy: .cacheOnly).isEmpty)
        await next.stop()
        await other.stop()
    }

    @Test("the status bar has a text for each state")
    func bar() {
        #expect(statusBar(.init(connection: .live)) == "Up to date")
        #expect(statusBar(.init(connection: .catchingUp, waitingWrites: 2)) == "Updating, 2 to send")
        #expect(statusBar(.init(connection: .stopped, waitingWrites: 1, rejectedWrites: 3)) == "Stopped, 1 to send, 3 to look at")
    }
}
