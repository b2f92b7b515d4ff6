import FreshetTestSupport
import FreshetTransport
import FreshetWire
import Testing

@testable import FreshetClient

/// Between the call of a clear and its transaction the disk has data that nobody may read any more.
@Suite("While a clear waits for the disk") struct ClearingTests {
    private let directory = TemporaryDirectory()

    @Test("no earlier data can be read, and none is shown once the clear is done")
    func reads() async throws {
        // Given a client with a record of its server, and a waiting write
        let client = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path))
        try await client.start()
        try await client.engine.store(Sample.entry("notes/1", 1))
        try await client.notes.setValue(Note(text: "2"), forKey: "2")
        #expect(try await client.notes.ids(policy: .cacheOnly) == ["1", "2"])
        // When the client is asked for all of it in the same job in which a clear is called
        let found = try await client.engine.lookWhileClearing("notes", "1")
        // Then it has nothing
        #expect(found.members.isEmpty && found.ids.isEmpty && found.view == .unknown && found.stored == nil)
        // And an observer since then sees no earlier data when the clear is done
        #expect(try await client.engine.awaitClear() == 0)
        #expect(client.notes["1"] == nil)
        #expect(found.observer.snapshots(client.engine.memory, .raw).isEmpty)
        #expect(try await client.notes.ids(policy: .cacheOnly).isEmpty)
        await client.stop()
    }

    @Test("a write does not stand on the earlier value")
    func writes() async throws {
        // Given a client that knows a record
        let client = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path))
        try await client.start()
        try await client.engine.store(Sample.entry("notes/1", 1, Sample.json(#"{"text":"secret","votes":0}"#)))
        // When a clear is called, and in the same job a patch of the record, which needs its value
        let patch = WriteOperation.patch(Array(#"{"votes":1}"#.utf8))
        await #expect(throws: ClientError.baseUnknown(key: "notes/1")) {
            try await client.engine.writeWhileClearing(Sample.key("notes/1"), patch)
        }
        await client.stop()
    }
}

extension Engine {
    fileprivate func store(_ entry: Entry) throws {
        guard let disk else { return }
        _ = try disk.apply(DiskTransaction(id: TransactionID(0), entries: [.put(entry, onlyIfCached: false)]))
    }

    private func clearNow() { submit(.clear(newClient: EngineSettings.randomClient, nextCallerID())) }

    fileprivate func lookWhileClearing(_ collection: String, _ id: String) throws -> (
        members: [CachedValue], ids: [String], view: KeyView.Value, stored: Entry?, observer: CollectionObserver
    ) {
        let key = try RecordKey(collection: collection, id: id)
        clearNow()
        let (observer, _) = try observe(collection: collection, fetches: false)
        return (try members(of: collection), try ids(in: collection), try load(key).view.value, try stored(key), observer)
    }

    fileprivate func writeWhileClearing(_ key: RecordKey, _ operation: WriteOperation) async throws {
        clearNow()
        _ = try await write(key, operation, .rejectIfChanged)
    }

    /// Runs behind the transaction of the clear. Returns how many transactions wait.
    fileprivate func awaitClear() async throws -> Int {
        await withCheckedContinuation { continuation in
            transport.run { @Sendable [self] in assumeIsolated { continuation.resume(returning: $0.uncommitted.count) } }
        }
    }
}
