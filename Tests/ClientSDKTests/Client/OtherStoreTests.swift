import FreshetClient
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

/// A directory belongs to a store, at any address.
@Suite struct OtherStoreTests {
    private let directory = TemporaryDirectory()

    private func serve(_ name: String?, port: Int = 0, isRestored: Bool = false) throws -> RecordServer {
        var configuration = RecordServerConfiguration()
        configuration.port = port
        if let name { configuration.storage = .directory(directory.file(name)) }
        configuration.isRestored = isRestored
        return try RecordServer.running(configuration)
    }

    private func client(_ url: String, adopts: Bool = false) throws -> SyncClient {
        try ServerFixture.client(url, storage: .directory(directory.file("cache"))) { $0.adoptsStore = adopts }
    }

    /// A device that has met the server, and then wrote without it.
    private func leaveAWrite(_ url: String, whileStopping server: RecordServer) async throws {
        let device = try client(url)
        try await device.start()
        try await within { try await device.waitUntilLive() }
        _ = try await within { try await device.notes.setValue(Note(text: "sent"), forKey: "1").waitUntilConfirmed() }
        await server.stop()
        try await within { try await device.offline() }
        try await device.notes.setValue(Note(text: "waits"), forKey: "2")
        await device.stop()
    }

    private func refusal(of device: SyncClient) async throws -> ClientError? {
        let status = try await first(of: device.statuses, "another store") {
            if case .otherStore? = $0.feedError { true } else { false }
        }
        return status.feedError
    }

    @Test("another store is refused and gets nothing, and the own one gets all under another address")
    func otherStore() async throws {
        // Given
        let staging = try serve("staging")
        try await leaveAWrite(staging.url, whileStopping: staging)
        let production = try serve("production")
        // When the directory is used with another server's address
        let device = try client(production.url)
        try await device.start()
        // Then it reports that, and shows the records that it has
        let error = try #require(try await refusal(of: device))
        #expect(error.description.contains("adoptsStore"))
        #expect(device.status.waitingWrites == 1 && device.notes["2"]?.isPending == true)
        await #expect(throws: error) { try await device.invalidate(.everything) }
        await device.stop()
        // Then the other server knows nothing of the device
        let witness = try ServerFixture.client(production.url)
        try await witness.start()
        try await within { try await witness.waitUntilLive() }
        #expect(try await witness.notes.ids().isEmpty && witness.status.cursor?.revision.number == 0)
        await witness.stop()
        await production.stop()
        // When its own store has another address, and was restored from a back-up
        let moved = try serve("staging", isRestored: true)
        let again = try client(moved.url)
        try await again.start()
        try await within { try await again.waitUntilDrained() }
        try await within { try await again.waitUntilLive() }
        #expect(try await again.notes.ids() == ["1", "2"] && again.status.feedError == nil)
        await again.stop()
        await moved.stop()
    }

    @Test("a client that adopts sends the waiting writes to the new store")
    func adoption() async throws {
        let staging = try serve("staging")
        try await leaveAWrite(staging.url, whileStopping: staging)
        let production = try serve("production")
        // When
        let device = try client(production.url, adopts: true)
        try await device.start()
        try await within { try await device.waitUntilDrained() }
        try await within { try await device.waitUntilLive() }
        // Then
        #expect(try await device.notes.ids() == ["2"])
        await device.stop()
        await production.stop()
    }

    @Test("a client that is cleared drops the waiting writes and belongs to the new store")
    func clearedClient() async throws {
        let staging = try serve("staging")
        try await leaveAWrite(staging.url, whileStopping: staging)
        let production = try serve("production")
        let device = try client(production.url)
        try await device.start()
        _ = try await refusal(of: device)
        // When
        try await within { try await device.clear() }
        try await within { try await device.waitUntilLive() }
        // Then
        #expect(try await device.notes.ids().isEmpty && device.status.waitingWrites == 0)
        await device.stop()
        await production.stop()
    }

    @Test("a server in memory that was restarted gets the waiting writes, and a store on disk does not")
    func restartedServerInMemory() async throws {
        // Given a developer's server
        let server = try serve(nil)
        try await leaveAWrite(server.url, whileStopping: server)
        let production = try serve("production")
        let stray = try client(production.url)
        try await stray.start()
        guard case .otherStore(.some, expected: "memory")? = try await refusal(of: stray) else {
            Issue.record("the store on disk was not refused")
            return
        }
        await stray.stop()
        await production.stop()
        // When it is started again
        let restarted = try serve(nil)
        let device = try client(restarted.url)
        try await device.start()
        try await within { try await device.waitUntilDrained() }
        try await within { try await device.waitUntilLive() }
        // Then
        #expect(try await device.notes.ids() == ["2"])
        await device.stop()
        await restarted.stop()
    }
}
