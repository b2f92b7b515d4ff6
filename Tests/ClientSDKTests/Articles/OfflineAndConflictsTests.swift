import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

private struct Stock: Codable, Hashable, Sendable { var count: Int }

private enum Decision {
    case again
    case instead(Product)
    case giveUp
}

private func write(_ client: SyncClient) async throws {
    // article begins
    let products = client.collection("products", of: Product.self) { conflict in
        guard let mine = conflict.mine, let theirs = conflict.theirs else { return .takeTheirs }
        var merged = theirs
        if mine.name != conflict.base?.name { merged.name = mine.name }
        if mine.price != conflict.base?.price { merged.price = mine.price }
        return .value(merged)
    }
    try await products.setValue(Product(name: "Red apple", price: 120), forKey: "apple", onConflict: .merge)
    // article ends
}

private func decide(
    _ client: SyncClient, _ products: SyncedCollection<Product>, ask: (Product?, ProblemCode) -> Decision
) async throws {
    // article begins
    for try await rejections in client.rejections {
        for rejection in rejections {
            let wanted = try products.value(of: rejection)  // nil for a patch, an increment or a removal
            switch ask(wanted, rejection.problem.code) {
            case .again: try await client.rejections.retry(rejection, onConflict: .lastWriterWins)
            case .instead(let value): try await products.retry(rejection, with: value)
            case .giveUp: try await client.rejections.discard(rejection)
            }
        }
    }
    // article ends
}

private func count(_ stocks: SyncedCollection<Stock>) async throws {
    // article begins
    try await stocks.increment("/count", by: 10, of: "apple", onMissing: .create(Stock(count: 0)))
    try await stocks.increment("/count", by: -2, of: "apple", onMissing: .reject, min: 0)
    // article ends
}

@Suite("Article: offline and conflicts", .timeLimit(.minutes(5)))
struct OfflineAndConflictsTests {
    private struct Scene {
        var fixture: ServerFixture
        var ann: SyncClient
        var bob: SyncClient
    }

    /// Two devices with an apple; the second has lost its network, and the first has changed the price since.
    private func conflict() async throws -> Scene {
        let fixture = try ServerFixture()
        let scene = Scene(fixture: fixture, ann: try await fixture.live(), bob: try await fixture.live(throughProxy: true))
        let products = scene.ann.collection("products", of: Product.self)
        _ = try await within { try await products.setValue(Product(name: "Apple", price: 120), forKey: "apple").waitUntilConfirmed() }
        _ = try await first(of: scene.bob.collection("products", of: Product.self).snapshots(forKey: "apple")) { $0.exists }
        fixture.proxy.refuse()
        try await scene.bob.offline()
        _ = try await within { try await products.setValue(Product(name: "Apple", price: 150), forKey: "apple").waitUntilConfirmed() }
        return scene
    }

    @Test("the closure makes one of both changes")
    func merges() async throws {
        // Given
        let scene = try await conflict()
        // When
        try await write(scene.bob)
        scene.fixture.proxy.acceptAgain()
        // Then
        let both = Product(name: "Red apple", price: 150)
        _ = try await first(of: scene.ann.collection("products", of: Product.self).snapshots(forKey: "apple")) { $0.value == both }
    }

    @Test("a rejected write is retried, replaced or given up", arguments: [0, 1, 2])
    func rejections(choice: Int) async throws {
        // Given
        let scene = try await conflict()
        let products = scene.bob.collection("products", of: Product.self)
        let mine = Product(name: "Green apple", price: 120)
        try await products.setValue(mine, forKey: "apple", onConflict: .rejectIfChanged)
        scene.fixture.proxy.acceptAgain()
        let instead = Product(name: "Green apple", price: 150)
        let (decision, result) = [
            (Decision.again, mine), (.instead(instead), instead), (.giveUp, Product(name: "Apple", price: 150)),
        ][choice]
        // When
        let (asked, toAsked) = AsyncStream.makeStream(of: Bool.self)
        let screen = Task {
            try await decide(scene.bob, products) { wanted, code in
                toAsked.yield(wanted == mine && code == .preconditionFailed)
                return decision
            }
        }
        #expect(try await first(of: asked) { _ in true })
        _ = try await first(of: scene.bob.statuses) { $0.rejectedWrites == 0 && $0.waitingWrites == 0 }
        // Then
        _ = try await first(of: scene.ann.collection("products", of: Product.self).snapshots(forKey: "apple")) { $0.value == result }
        await scene.bob.stop()
        try await within { try await screen.value }
    }

    @Test("an increment is bounded here and on the server")
    func increments() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        let stocks = client.collection("stocks", of: Stock.self)
        // When
        try await count(stocks)
        try await within { try await client.waitUntilDrained() }
        // Then
        #expect(try await stocks.value(forKey: "apple", policy: .networkOnly) == Stock(count: 8))
        await #expect(throws: ClientError.self) { try await stocks.increment("/count", by: -9, of: "apple", min: 0) }
    }
}
