import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("A client that follows a part of the namespace")
struct FollowedPartTests {
    private let directory = TemporaryDirectory()

    /// A backend that wrote an order and a product, and a till that follows the products alone.
    private func scene(
        _ following: SyncClient.Configuration.Following = .everything
    ) async throws -> (fixture: ServerFixture, backend: SyncClient, till: SyncClient) {
        let fixture = try ServerFixture()
        let backend = try await fixture.live()
        try await backend.orders.setValue(Note(text: "old", votes: 1), forKey: "1")
        try await backend.products.setValue(Note(text: "apple"), forKey: "1")
        try await within { try await backend.waitUntilDrained() }
        let till = try await self.till(fixture, following)
        return (fixture, backend, till)
    }

    private func till(
        _ fixture: ServerFixture, _ following: SyncClient.Configuration.Following = .everything, _ collections: [String] = ["products"]
    ) async throws -> SyncClient {
        try await fixture.live(throughProxy: true, storage: .directory(directory.path)) {
            ($0.following, $0.collections) = (following, collections)
        }
    }

    private func stop(_ clients: SyncClient...) async { for client in clients { await client.stop() } }

    @Test(
        "reads and lists outside of it show the backend's change",
        arguments: [SyncClient.Configuration.Following.everything, .cachedRecords])
    func reads(_ following: SyncClient.Configuration.Following) async throws {
        // Given a till that has read, listed and written orders
        let (fixture, backend, till) = try await scene(following)
        #expect(try await till.orders.value(forKey: "1") == Note(text: "old", votes: 1))
        #expect(try await till.orders.all().map(\.value) == [Note(text: "old", votes: 1)])
        _ = try await within { try await till.orders.setValue(Note(text: "mine"), forKey: "2").waitUntilConfirmed() }
        // When
        _ = try await within { try await backend.orders.setValue(Note(text: "new", votes: 9), forKey: "1").waitUntilConfirmed() }
        _ = try await within { try await backend.orders.removeValue(forKey: "2").waitUntilConfirmed() }
        // Then
        #expect(try await till.orders.value(forKey: "1") == Note(text: "new", votes: 9))
        #expect(try await till.orders.all().map(\.value) == [Note(text: "new", votes: 9)])
        #expect(try await till.orders.ids() == ["1"])
        #expect(try await till.orders.value(forKey: "2") == nil)
        #expect(till.orders["1"] == nil && till.orders["2"] == nil)
        #expect(try await till.orders.snapshot(forKey: "1", policy: .cacheOnly).isKnown == false)
        #expect(try await till.orders.all(policy: .cacheOnly).isEmpty)
        await stop(till, backend)
        withExtendedLifetime(fixture) {}
    }

    @Test("an increment is not refused for a record that was read before the backend's change")
    func increment() async throws {
        // Given
        let (fixture, backend, till) = try await scene()
        #expect(try await till.orders.value(forKey: "1")?.votes == 1)
        // When
        _ = try await within { try await backend.orders.setValue(Note(text: "new", votes: 9), forKey: "1").waitUntilConfirmed() }
        let write = try await till.orders.increment("/votes", by: -2, of: "1", min: 0)
        // Then
        _ = try await within { try await write.waitUntilConfirmed() }
        #expect(try await till.orders.value(forKey: "1")?.votes == 7)
        await stop(till, backend)
        withExtendedLifetime(fixture) {}
    }

    @Test("a conditional write refers to the record that was read last, and is rejected if the backend has changed it")
    func conditionalWrite() async throws {
        // Given
        let (fixture, backend, till) = try await scene()
        await #expect(throws: ClientError.baseUnknown(key: "orders/1")) {
            try await till.orders.setValue(Note(text: "blind"), forKey: "1", onConflict: .rejectIfChanged)
        }
        _ = try await till.orders.value(forKey: "1")
        // When, Then
        let first = try await till.orders.setValue(Note(text: "mine"), forKey: "1", onConflict: .rejectIfChanged)
        _ = try await within { try await first.waitUntilConfirmed() }
        _ = try await till.orders.value(forKey: "1")
        _ = try await within { try await backend.orders.setValue(Note(text: "theirs"), forKey: "1").waitUntilConfirmed() }
        let second = try await till.orders.setValue(Note(text: "late"), forKey: "1", onConflict: .rejectIfChanged)
        await #expect(throws: ClientError.self) { _ = try await within { try await second.waitUntilConfirmed() } }
        #expect(try await till.orders.value(forKey: "1") == Note(text: "theirs"))
        await stop(till, backend)
        withExtendedLifetime(fixture) {}
    }

    @Test("without the network, reads and lists outside fail, and waiting writes are shown")
    func offline() async throws {
        // Given
        let (fixture, backend, till) = try await scene()
        _ = try await till.orders.all()
        fixture.proxy.refuse()
        try await till.offline()
        // When
        let write = try await till.orders.setValue(Note(text: "waits"), forKey: "3")
        // Then
        for policy in [ReadPolicy.cacheElseNetwork, .networkOnly, .networkElseCache] {
            await #expect(throws: ClientError.self) { try await till.orders.value(forKey: "1", policy: policy) }
            await #expect(throws: ClientError.self) { try await till.orders.all(policy: policy) }
            await #expect(throws: ClientError.self) { try await till.orders.ids(policy: policy) }
        }
        #expect(try await till.orders.value(forKey: "3") == Note(text: "waits"))
        #expect(till.orders["3"]?.isPending == true)
        #expect(try await till.orders.ids(policy: .cacheOnly) == ["3"])
        #expect(try await till.products.value(forKey: "1") == Note(text: "apple"))
        // When
        fixture.proxy.acceptAgain()
        // Then
        _ = try await within { try await write.waitUntilConfirmed() }
        #expect(try await backend.orders.value(forKey: "3", policy: .networkOnly) == Note(text: "waits"))
        await stop(till, backend)
    }

    @Test("a record of which no change would be seen is not observed, but for waiting writes")
    func observers() async throws {
        // Given
        let (fixture, backend, till) = try await scene()
        // When, Then
        await #expect(throws: ClientError.notFollowed("orders/1")) { for try await _ in till.orders.snapshots(forKey: "1") { return } }
        await #expect(throws: ClientError.notFollowed("orders")) { for try await _ in till.orders.snapshots() { return } }
        await #expect(throws: ClientError.notFollowed("orders")) { for try await _ in till.orders.changes() { return } }
        await #expect(throws: ClientError.notFollowed("orders/1")) { try await till.orders.prefetch(["1"]) }
        // When
        let shown = Task { try await first(of: till.orders.snapshots(policy: .cacheOnly), "a waiting write") { !$0.isEmpty } }
        fixture.proxy.refuse()
        try await till.offline()
        try await till.orders.setValue(Note(text: "waits"), forKey: "3")
        // Then
        #expect(try await shown.value.map(\.isPending) == [true])
        await stop(till, backend)
    }

    @Test("an app that follows less drops the rest, and one that follows it again reads it from nothing")
    func updates() async throws {
        // Given a device that followed orders
        let fixture = try ServerFixture()
        let backend = try await fixture.live()
        try await backend.orders.setValue(Note(text: "old"), forKey: "1")
        try await backend.products.setValue(Note(text: "apple"), forKey: "1")
        try await within { try await backend.waitUntilDrained() }
        let first = try await self.till(fixture, .everything, ["products", "orders"])
        #expect(try await first.orders.value(forKey: "1") == Note(text: "old"))
        await first.stop()
        // When its app follows products alone, without the network, and the backend removes the order
        fixture.proxy.refuse()
        _ = try await within { try await backend.orders.removeValue(forKey: "1").waitUntilConfirmed() }
        let second = try fixture.client(throughProxy: true, storage: .directory(directory.path)) { $0.collections = ["products"] }
        try await second.start()
        // Then
        await #expect(throws: ClientError.self) { try await second.orders.value(forKey: "1") }
        #expect(try await second.products.all().map(\.value) == [Note(text: "apple")], "what it still follows is there")
        await second.stop()
        // When it follows orders again
        let till = try fixture.client(throughProxy: true, storage: .directory(directory.path)) { $0.collections = ["products", "orders"] }
        try await till.start()
        // Then nothing is known of them before the server was reached
        try await till.offline()
        await #expect(throws: ClientError.incompleteCopy(collection: "orders")) { try await till.orders.all() }
        #expect(try await till.products.all().map(\.value) == [Note(text: "apple")])
        fixture.proxy.acceptAgain()
        till.retryNow()
        try await within { try await till.waitUntilLive() }
        #expect(try await till.orders.all().isEmpty)
        await stop(till, backend)
    }

    @Test("a first start without the network shows no empty collection")
    func firstStart() async throws {
        // Given
        let fixture = try ServerFixture()
        let backend = try await fixture.live()
        try await backend.products.setValue(Note(text: "apple"), forKey: "1")
        try await within { try await backend.waitUntilDrained() }
        fixture.proxy.refuse()
        let till = try fixture.client(throughProxy: true, storage: .directory(directory.path)) { $0.collections = ["products"] }
        // When
        try await till.start()
        try await till.offline()
        // Then
        await #expect(throws: ClientError.incompleteCopy(collection: "products")) { try await till.products.all() }
        await #expect(throws: ClientError.incompleteCopy(collection: "products")) { try await till.products.ids() }
        await #expect(throws: ClientError.incompleteCopy(collection: "products")) { try await till.products.ids(policy: .networkElseCache) }
        #expect(try await till.products.ids(policy: .cacheOnly).isEmpty)
        #expect(till.status.firstCopy == .init(records: 0, bytes: 0, share: 0))
        let snapshots = Task { try await first(of: till.products.snapshots(), "any") { _ in true } }
        let changes = Task { try await first(of: till.products.changes(), "any") { _ in true } }
        // When
        fixture.proxy.acceptAgain()
        till.retryNow()
        // Then the first element is the complete one
        #expect(try await snapshots.value.map(\.value) == [Note(text: "apple")])
        #expect(try await changes.value.inserted.map(\.value) == [Note(text: "apple")])
        #expect(till.status.firstCopy == nil)
        // When the next start is without the network
        await till.stop()
        fixture.proxy.refuse()
        let again = try fixture.client(throughProxy: true, storage: .directory(directory.path)) { $0.collections = ["products"] }
        try await again.start()
        // Then
        #expect(try await again.products.ids() == ["1"])
        await stop(again, backend)
    }

    @Test("an empty copy that is complete is shown as empty")
    func emptyCopy() async throws {
        // Given
        let fixture = try ServerFixture()
        let till = try await fixture.live { $0.collections = ["products"] }
        // When, Then
        #expect(try await first(of: till.products.snapshots(), "any") { _ in true }.isEmpty)
        #expect(try await till.products.all().isEmpty)
        await till.stop()
    }
}

extension SyncClient {
    fileprivate var orders: SyncedCollection<Note> { collection("orders", of: Note.self) }
    fileprivate var products: SyncedCollection<Note> { collection("products", of: Note.self) }
}
