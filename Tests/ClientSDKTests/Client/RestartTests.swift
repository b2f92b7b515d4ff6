import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

@Suite struct RestartTests {
    private let directory = TemporaryDirectory()

    @Test func aRestartKeepsCursorEntriesOutboxAndWhatIsPending() async throws {
        // Given a device that followed, and then wrote without a network
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        _ = try await within { try await ann.notes.setValue(Note(text: "theirs"), forKey: "1").waitUntilConfirmed() }
        let cursor: Cursor?
        do {
            let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
            fixture.proxy.refuse()
            try await bob.offline()
            try await bob.notes.merge(["text": "mine"], into: "1")
            try await bob.notes.setValue(Note(text: "second"), forKey: "2")
            cursor = bob.status.cursor
            await bob.stop()
            #expect(bob.notes["1"] == nil)
            await #expect(throws: ClientError.stopped) { try await bob.notes.value(forKey: "1") }
        }
        // When it is opened again, still without a network
        let bob = try fixture.client(throughProxy: true, storage: .directory(directory.path))
        try await bob.start()
        // Then it shows the same, pending, at once
        #expect(bob.notes["1"]?.value == Note(text: "mine") && bob.notes["1"]?.isPending == true)
        #expect(bob.notes["2"]?.value == Note(text: "second"))
        #expect(bob.status.waitingWrites == 2 && bob.status.cursor == cursor)
        #expect(try await bob.notes.ids() == ["1", "2"])
        // And sends it once the network is back
        fixture.proxy.acceptAgain()
        try await within { try await bob.waitUntilDrained() }
        let seen = try await first(of: ann.notes.snapshots()) { $0.count == 2 && $0.allSatisfy { $0.value?.text != "theirs" } }
        #expect(seen.map(\.value?.text) == ["mine", "second"])
        await bob.stop()
    }

    @Test func theSameClientMayStartAgain() async throws {
        let fixture = try ServerFixture()
        let bob = try await fixture.live(storage: .directory(directory.path))
        _ = try await within { try await bob.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        await bob.stop()
        #expect(bob.status.connection == .stopped)
        try await bob.start()
        #expect(try await bob.notes.value(forKey: "1", policy: .cacheOnly) == Note(text: "a"))
        _ = try await within { try await bob.notes.setValue(Note(text: "b"), forKey: "1").waitUntilConfirmed() }
        await bob.stop()
    }

    @Test func clearForgetsEverythingInEveryTier() async throws {
        // Given a device with a confirmed and a pending record
        let fixture = try ServerFixture()
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
        _ = try await within { try await bob.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        fixture.proxy.refuse()
        try await bob.offline()
        let pending = try await bob.notes.setValue(Note(text: "b"), forKey: "2")
        // When it is cleared
        try await within { try await bob.clear() }
        // Then nothing is readable, and the writer gets an error
        #expect(bob.notes["1"] == nil && bob.notes["2"] == nil)
        #expect(try await bob.notes.snapshot(forKey: "1", policy: .cacheOnly).isKnown == false)
        #expect(try await bob.notes.ids(policy: .cacheOnly).isEmpty)
        await #expect(throws: ClientError.cleared) { try await within { try await pending.outcome() } }
        #expect(bob.status.waitingWrites == 0)
        // After a restart neither, but the server's records come again
        await bob.stop()
        try await bob.start()
        #expect(try await bob.notes.ids(policy: .cacheOnly).isEmpty)
        fixture.proxy.acceptAgain()
        let seen = try await first(of: bob.notes.snapshots()) { !$0.isEmpty }
        #expect(seen.map(\.id) == ["1"])
        await bob.stop()
    }

    @Test func aFetchUnderWayDoesNotSurviveAClear() async throws {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        _ = try await within { try await ann.notes.setValue(Note(text: "secret"), forKey: "1").waitUntilConfirmed() }
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path)) {
            $0.following = .cachedRecords
            $0.collections = ["other"]
            ($0.readTimeout, $0.requestTimeout) = (.seconds(120), .seconds(120))
        }
        fixture.proxy.hold(answersTo: "/records/notes/1 ", "/reads ")
        let reading = Task { try await bob.notes.snapshot(forKey: "1") }
        _ = try await first(of: fixture.proxy.heldRequests) { _ in true }
        try await within { try await bob.clear() }
        fixture.proxy.release()
        await #expect(throws: ClientError.cleared) { try await within { try await reading.value } }
        try await within { try await bob.waitUntilLive() }
        #expect(bob.notes["1"] == nil)
        #expect(try await bob.notes.snapshot(forKey: "1", policy: .cacheOnly).isKnown == false)
        await bob.stop()
    }

    @Test func aServerThatBeginsANewHistoryKeepsWhatIsOurs() async throws {
        // Given a device with a pending write, whose server is replaced by an empty one
        let fixture = try ServerFixture()
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
        _ = try await within { try await bob.notes.setValue(Note(text: "old"), forKey: "1").waitUntilConfirmed() }
        fixture.proxy.refuse()
        try await bob.offline()
        let pending = try await bob.notes.setValue(Note(text: "mine"), forKey: "2")
        let other = try ServerFixture()
        fixture.proxy.retarget(to: other.port)
        fixture.proxy.acceptAgain()
        // Then the write reaches the new one, and records that it does not have are gone
        _ = try await within { try await pending.waitUntilConfirmed() }
        let seen = try await first(of: bob.notes.snapshots()) { $0.map(\.id) == ["2"] && $0.allSatisfy { !$0.isPending } }
        #expect(seen.first?.value == Note(text: "mine"))
        await bob.stop()
    }
}
