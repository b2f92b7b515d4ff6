import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

@Suite struct SyncingTests {
    @Test func aWriteOfOneDeviceArrivesAtAnother() async throws {
        // Given two live devices
        let fixture = try ServerFixture()
        let (ann, bob) = (try await fixture.live(), try await fixture.live())
        // When one writes
        let write = try await ann.notes.setValue(Note(text: "Hello"), forKey: "1")
        // Then it shows it at once, and the other as it arrives
        #expect(ann.notes["1"]?.value == Note(text: "Hello"))
        let seen = try await first(of: bob.notes.snapshots(forKey: "1", policy: .cacheOnly)) { $0.exists }
        #expect(seen.value == Note(text: "Hello") && seen.source == .feed && !seen.isPending && seen.freshness == .live)
        let revision = try await within { try await write.waitUntilConfirmed() }
        #expect(revision == seen.revision)
        let own = try await first(of: ann.notes.snapshots(forKey: "1")) { !$0.isPending }
        #expect(own.revision == revision && own.value == Note(text: "Hello"))
    }

    @Test func everyKindOfWriteShowsAtOnceAndEndsAlikeEverywhere() async throws {
        let fixture = try ServerFixture()
        let (ann, bob) = (try await fixture.live(), try await fixture.live())
        try await ann.notes.setValue(Note(text: "a", votes: 1), forKey: "1")
        try await ann.notes.setValue(Note(text: "b"), forKey: "2")
        // When a record is merged, counted and removed before anything is confirmed
        try await ann.notes.merge(["text": "c"], into: "1")
        try await ann.notes.increment("/votes", by: 41, of: "1")
        try await ann.notes.removeValue(forKey: "2")
        // Then the writer shows the result of all
        #expect(ann.notes["1"]?.value == Note(text: "c", votes: 42))
        #expect(ann.notes["2"]?.exists == false)
        // And the other device comes to the same
        try await within { try await ann.waitUntilDrained() }
        let seen = try await first(of: bob.notes.snapshots(forKey: "1")) { $0.value?.votes == 42 }
        #expect(seen.value == Note(text: "c", votes: 42))
        _ = try await first(of: bob.notes.snapshots()) { $0.map(\.id) == ["1"] }
        #expect(try await ann.notes.ids() == ["1"])
        #expect(try await bob.notes.ids() == ["1"])
    }

    @Test func offlineWritesArePendingAndThenConfirmed() async throws {
        // Given a device whose network has gone
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        let bob = try await fixture.live(throughProxy: true)
        fixture.proxy.refuse()
        try await bob.offline()
        // When it writes
        let writes = [
            try await bob.notes.setValue(Note(text: "offline"), forKey: "1"), try await bob.notes.increment("/votes", of: "1"),
        ]
        // Then it shows it, pending
        #expect(bob.notes["1"]?.value == Note(text: "offline", votes: 1) && bob.notes["1"]?.isPending == true)
        #expect(bob.status.waitingWrites == 2)
        // And once the network is back, it is confirmed and the other has it
        fixture.proxy.acceptAgain()
        for write in writes { _ = try await within { try await write.waitUntilConfirmed() } }
        let seen = try await first(of: ann.notes.snapshots(forKey: "1")) { $0.value?.votes == 1 }
        #expect(seen.value == Note(text: "offline", votes: 1))
        let own = try await first(of: bob.notes.snapshots(forKey: "1")) { !$0.isPending }
        #expect(own.value == seen.value)
    }

    @Test func anAnswerThatIsLostDoesNotApplyAWriteTwice() async throws {
        // Given a device whose answers to writes are held back
        let fixture = try ServerFixture()
        let bob = try await fixture.live(throughProxy: true)
        fixture.proxy.hold(answersTo: "POST /v1/test/writes")
        let write = try await bob.notes.increment("/votes", of: "1")
        _ = try await first(of: fixture.proxy.heldRequests) { _ in true }
        // When the connection breaks after the server had the write
        fixture.proxy.cut()
        fixture.proxy.release()
        // Then the write is confirmed, and counted once
        _ = try await within { try await write.waitUntilConfirmed() }
        let ann = try await fixture.live()
        let raw = ann.rawCollection("notes")
        #expect(try await raw.value(forKey: "1", policy: .networkOnly)?.bytes == Array("{\"votes\":1}".utf8))
    }

    @Test func aDeviceThatComesLaterCatchesUp() async throws {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for number in 0..<50 { try await ann.notes.setValue(Note(text: "\(number)"), forKey: "\(number)") }
        try await within { try await ann.waitUntilDrained() }
        let bob = try await fixture.live()
        let all = try await bob.notes.all()
        #expect(all.count == 50)
        #expect(all.allSatisfy { $0.value?.text == $0.id })
    }

    @Test func oneThatFollowsOnlyWhatItHoldsReadsTheRestWhenAsked() async throws {
        // Given records, and a device that holds none
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for id in ["1", "2", "3"] { try await ann.notes.setValue(Note(text: id), forKey: id) }
        try await within { try await ann.waitUntilDrained() }
        let bob = try await fixture.live { $0.following = .cachedRecords }
        // When it reads by each policy
        #expect(try await bob.notes.snapshot(forKey: "1", policy: .cacheOnly).isKnown == false)
        let fetched = try await bob.notes.snapshot(forKey: "1")
        #expect(fetched.value == Note(text: "1") && fetched.source == .fetch)
        #expect(bob.notes["1"]?.value == Note(text: "1") && bob.notes["2"] == nil)
        #expect(try await bob.notes.value(forKey: "nothing") == nil)
        // Then the absence is known too, and the device follows the keys that it holds
        #expect(bob.notes["nothing"]?.isKnown == true)
        try await ann.notes.setValue(Note(text: "new"), forKey: "1")
        let followed = try await first(of: bob.notes.snapshots(forKey: "1", policy: .cacheOnly)) { $0.value == Note(text: "new") }
        #expect(followed.source == .feed)
        try await bob.notes.prefetch(["1", "2", "3", "3"])
        #expect(bob.notes["3"]?.value == Note(text: "3"))
    }

    @Test func bytesOfAnyTypePassThroughUnchanged() async throws {
        let fixture = try ServerFixture()
        let (ann, bob) = (try await fixture.live(), try await fixture.live())
        let picture = Content(bytes: (0...255).map { UInt8($0) }, type: "image/png")
        try await ann.rawCollection("pictures").setValue(picture, forKey: "a/b c%?.png")
        let seen = try await first(of: bob.rawCollection("pictures").snapshots(forKey: "a/b c%?.png")) { $0.exists }
        #expect(seen.value == picture)
        #expect(try await bob.rawCollection("pictures").value(forKey: "a/b c%?.png", policy: .networkOnly) == picture)
    }

    @Test func whatIsOfAnotherTypeSaysSoAndKeepsItsBytes() async throws {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        try await ann.collection("notes", of: [Int].self).setValue([1, 2], forKey: "1")
        #expect(ann.notes["1"]?.value == nil && ann.notes["1"]?.exists == true)
        #expect(ann.notes["1"]?.decodingError != nil)
        await #expect(throws: ClientError.self) { try await ann.notes.value(forKey: "1") }
        #expect(ann.notes["1"]?.content?.bytes == Array("[1,2]".utf8))
    }
}
