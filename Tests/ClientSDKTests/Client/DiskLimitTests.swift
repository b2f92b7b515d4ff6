import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import Testing

@Suite("A client within its disk limit")
struct DiskLimitTests {
    private func note(_ number: Int) -> Note { Note(text: String(repeating: "\(number % 10)", count: 1_000)) }

    /// A server with many notes, and a device that follows what it holds and may hold a part of them.
    private func scene(_ directory: TemporaryDirectory, count: Int) async throws -> (
        fixture: ServerFixture, ann: SyncClient, bob: SyncClient
    ) {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for number in 0..<count { try await ann.notes.setValue(note(number), forKey: "\(number)") }
        try await within { try await ann.waitUntilDrained() }
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path)) {
            $0.following = .cachedRecords
            $0.diskLimit = 262_144
            $0.memoryLimit = 20_000
        }
        return (fixture, ann, bob)
    }

    private func settled(_ client: SyncClient) async throws {
        try await within(.seconds(120), "the disk tier's shrinking") {
            while await client.statistics().disk.bytes > 262_144 { await Task.yield() }
        }
    }

    @Test("the records that were not used for longest leave, are read from the server again, and are never wrong")
    func leaves() async throws {
        // Given
        let directory = TemporaryDirectory()
        let (fixture, ann, bob) = try await scene(directory, count: 600)
        // When more is read than may be held
        for number in 0..<600 {
            #expect(try await bob.notes.value(forKey: "\(number)") == note(number))
            if number % 10 == 0 { _ = try await bob.notes.value(forKey: "7") }
        }
        try await settled(bob)
        // Then
        let statistics = await bob.statistics()
        #expect(statistics.disk.evictions > 300)
        #expect(statistics.memory.bytes <= 20_000 && statistics.memory.evictions > 0)
        #expect(try await bob.notes.snapshot(forKey: "1", policy: .cacheOnly).isKnown == false)
        #expect(try await bob.notes.snapshot(forKey: "7", policy: .cacheOnly).value == note(7))
        #expect(try await bob.notes.explain("1").events.contains { $0.text.hasPrefix("evicted") })
        // And one that left comes back as it is now
        let revision = try #require(try await within { try await ann.notes.setValue(Note(text: "new"), forKey: "1").waitUntilConfirmed() })
        try await bob.past(revision)
        #expect(try await bob.notes.value(forKey: "1") == Note(text: "new"))
        #expect(bob.notes["1"]?.freshness == .live)
        await bob.stop()
        #expect(await bob.statistics().disk.bytes == 0)
        withExtendedLifetime(fixture) {}
    }

    @Test("an observed record is not evicted by any number of others")
    func observed() async throws {
        // Given a record that is observed, and is not the last to be read
        let directory = TemporaryDirectory()
        let (fixture, _, bob) = try await scene(directory, count: 600)
        var observed = bob.notes.snapshots(forKey: "3").makeAsyncIterator()
        while try await observed.next()?.isKnown == false {}
        // When much more is read
        for number in 10..<600 { _ = try await bob.notes.value(forKey: "\(number)") }
        try await settled(bob)
        // Then
        #expect(try await bob.notes.snapshot(forKey: "10", policy: .cacheOnly).isKnown == false)
        #expect(try await bob.notes.snapshot(forKey: "3", policy: .cacheOnly).value == note(3))
        _ = observed
        await bob.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test("a limit that is lowered holds from the next start, offline too, and pending writes stay")
    func pending() async throws {
        // Given a device that holds much, and has a write that cannot be sent
        let directory = TemporaryDirectory()
        let (fixture, _, small) = try await scene(directory, count: 600)
        await small.stop()
        let storage = SyncClient.Configuration.Storage.directory(directory.path)
        let bob = try await fixture.live(throughProxy: true, storage: storage) { $0.following = .cachedRecords }
        try await bob.notes.prefetch((0..<600).map { "\($0)" })
        #expect(await bob.statistics().disk.bytes > 600_000)
        fixture.proxy.refuse()
        try await bob.notes.setValue(Note(text: "mine"), forKey: "4")
        await bob.stop()
        // When it starts with less room, and reaches nobody
        let next = try fixture.client(throughProxy: true, storage: storage) {
            $0.following = .cachedRecords
            $0.diskLimit = 262_144
        }
        try await next.start()
        try await settled(next)
        // Then
        #expect(await next.statistics().disk.evictions > 300)
        let snapshot = try await next.notes.snapshot(forKey: "4", policy: .cacheOnly)
        #expect(snapshot.value == Note(text: "mine") && snapshot.isPending)
        #expect(try await (1...300).contains(next.notes.ids(policy: .cacheOnly).count))
        fixture.proxy.acceptAgain()
        try await within { try await next.waitUntilDrained() }
        #expect(try await next.notes.value(forKey: "4") == Note(text: "mine"))
        await next.stop()
    }

    @Test("a copy of everything has no limit of itself, and a limit that is too small is refused")
    func limits() throws {
        #expect(throws: ClientError.self) { try ServerFixture.client("http://127.0.0.1:1") { $0.diskLimit = 100_000 } }
        _ = try ServerFixture.client("http://127.0.0.1:1") { $0.diskLimit = 262_144 }
    }
}
