import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

@Suite struct InvalidationTests {
    @Test(arguments: [true, false]) func anInvalidationEvictsBothTiers(_ onDisk: Bool) async throws {
        // Given a device that holds records
        let fixture = try ServerFixture()
        let directory = TemporaryDirectory()
        let ann = try await fixture.live()
        for id in ["eu-1", "eu-2", "us-1"] { try await ann.notes.setValue(Note(text: id), forKey: id) }
        try await within { try await ann.waitUntilDrained() }
        let bob = try await fixture.live(storage: onDisk ? .directory(directory.path) : .memory) { $0.following = .cachedRecords }
        try await bob.notes.prefetch(["eu-1", "eu-2", "us-1"])
        #expect(try await bob.notes.ids(policy: .cacheOnly).count == 3)
        // When some are invalidated
        let revision = try await ann.invalidate(.collection("notes", prefix: "eu-"))
        // Then they are in neither tier, and the others still are
        try await bob.past(revision)
        #expect(bob.notes["eu-1"] == nil && bob.notes["us-1"] != nil)
        #expect(try await bob.notes.snapshot(forKey: "eu-1", policy: .cacheOnly).isKnown == false)
        #expect(try await bob.notes.ids(policy: .cacheOnly) == ["us-1"])
        // And the next read loads them afresh
        #expect(try await bob.notes.value(forKey: "eu-1") == Note(text: "eu-1"))
        await bob.stop()
    }

    @Test(
        "an invalidation whose connection closes on another network is unreachable, and stopped only if the client is",
        arguments: [true, false])
    func closedConnection(stops: Bool) async throws {
        // Given an invalidation whose response is held back
        let fixture = try ServerFixture()
        let client = try await fixture.live(throughProxy: true)
        fixture.proxy.hold(answersTo: "/invalidations ")
        let invalidation = Task { try await client.invalidate(.collection("notes", prefix: "")) }
        _ = try await first(of: fixture.proxy.heldRequests) { _ in true }
        // When
        if stops { await client.stop() } else { client.networkChanged() }
        // Then
        let error = await #expect(throws: ClientError.self) { try await within { try await invalidation.value } }
        #expect(error == (stops ? .stopped : .unreachable("the connection was closed")))
        await client.stop()
    }

    @Test func whatIsObservedIsReadAgainByItself() async throws {
        // Given an observed record
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        try await ann.notes.setValue(Note(text: "a"), forKey: "1")
        try await within { try await ann.waitUntilDrained() }
        let bob = try await fixture.live { $0.following = .cachedRecords }
        let (stream, continuation) = AsyncStream.makeStream(of: Snapshot<Note>.self)
        let observing = Task {
            for try await snapshot in bob.notes.snapshots(forKey: "1") { continuation.yield(snapshot) }
        }
        _ = try await first(of: stream) { $0.value?.text == "a" }
        // When it is invalidated
        try await ann.invalidate(.key(RecordKey("notes/1")))
        // Then it is unknown for a moment at most, and known again without anyone's asking
        let story = try await within {
            while true {
                let story = try await bob.notes.explain("1")
                let invalidated = story.events.lastIndex { $0.text.hasPrefix("invalidated") }
                let fetched = story.events.lastIndex { $0.text.hasPrefix("fetched") }
                if let invalidated, let fetched, fetched > invalidated { return story }
                await Task.yield()
            }
        }
        #expect(story.snapshot.exists)
        #expect(bob.notes["1"]?.value?.text == "a")
        observing.cancel()
    }

    /// The race of google/guava#1881: the fetch began before the invalidation and ends after it.
    @Test(arguments: [true, false]) func aFetchThatBeganBeforeAnInvalidationNeverPutsItsValueBack(_ onDisk: Bool) async throws {
        // Given a record, and a device that begins to read it while the answer is held back on the way
        let fixture = try ServerFixture()
        let directory = TemporaryDirectory()
        let ann = try await fixture.live()
        _ = try await within { try await ann.notes.setValue(Note(text: "old"), forKey: "1").waitUntilConfirmed() }
        let bob = try await fixture.live(throughProxy: true, storage: onDisk ? .directory(directory.path) : .memory) {
            $0.following = .cachedRecords
            // The answer is held back for as long as the others take, on a loaded machine too.
            $0.readTimeout = .seconds(120)
            $0.requestTimeout = .seconds(120)
        }
        fixture.proxy.hold(answersTo: "/records/notes/1 ", "/reads ")
        let reading = Task { try await bob.notes.snapshot(forKey: "1") }
        _ = try await first(of: fixture.proxy.heldRequests) { _ in true }
        // When the record is changed and invalidated meanwhile, and the device has heard of it
        _ = try await within { try await ann.notes.setValue(Note(text: "new"), forKey: "1").waitUntilConfirmed() }
        let revision = try await ann.invalidate(.key(RecordKey("notes/1")))
        try await bob.past(revision)
        fixture.proxy.release()
        // Then the reader gets the new value, and no tier ever had the old one
        let seen = try await within { try await reading.value }
        #expect(seen.value == Note(text: "new"))
        #expect(bob.notes["1"]?.value == Note(text: "new"))
        #expect(try await bob.notes.value(forKey: "1", policy: .cacheOnly) == Note(text: "new"))
        let story = try await bob.notes.explain("1")
        #expect(story.events.contains { $0.text.contains("a fetch was dropped") }, "\(story)")
        await bob.stop()
        guard onDisk else { return }
        let again = try fixture.client(storage: .directory(directory.path)) { $0.following = .cachedRecords }
        try await again.start()
        #expect(try await again.notes.value(forKey: "1", policy: .cacheOnly) == Note(text: "new"))
        await again.stop()
    }
}
