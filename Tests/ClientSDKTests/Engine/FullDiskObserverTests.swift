import FreshetSQLite
import FreshetTestSupport
import Testing

@testable import FreshetClient

@Suite("An observer while the disk is full") struct FullDiskObserverTests {
    private let directory = TemporaryDirectory()
    private let large = Note(text: String(repeating: "x", count: 100_000))

    /// A device that follows what it has read, with a file that is too small for the one record of its server.
    private func device() async throws -> (SyncClient, ServerFixture) {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        let large = large
        _ = try await within { try await ann.notes.setValue(large, forKey: "1").waitUntilConfirmed() }
        await ann.stop()
        let bob = try await fixture.live(storage: .directory(directory.path)) {
            $0.following = .cachedRecords
            $0.fileLimit = 65_536
        }
        return (bob, fixture)
    }

    private func refused(_ client: SyncClient) async throws {
        try await within { while await client.engine.storageFailure == nil { await Task.yield() } }
        #expect(await client.engine.storageFailure == .diskFull(path: directory.path))
    }

    @Test("of a record shows it once there is room")
    func record() async throws {
        // Given an observed record that does not fit
        let (bob, fixture) = try await device()
        async let shown = first(of: bob.notes.snapshots(forKey: "1")) { $0.exists }
        try await refused(bob)
        // When there is room
        try await bob.engine.endFileLimit()
        // Then
        #expect(try await shown.value == large)
        await bob.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test("of a collection shows its records once there is room")
    func collection() async throws {
        // Given an observed collection with a record that does not fit
        let (bob, fixture) = try await device()
        async let shown = first(of: bob.notes.snapshots()) { $0.count == 1 }
        try await refused(bob)
        // When there is room
        try await bob.engine.endFileLimit()
        // Then
        #expect(try await shown.first?.value == large)
        await bob.stop()
        withExtendedLifetime(fixture) {}
    }
}

extension Engine {
    fileprivate func endFileLimit() throws { try disk?.connection.pragma("max_page_count=1000000") }
}
