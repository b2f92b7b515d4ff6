import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("A copy of everything, with values too large for the feed and invalidations") struct CopyTests {
    /// Above the limit of the feed, which is 64 KiB.
    private static let large = String(repeating: "x", count: 100_000)

    /// Keeps the ids and the values' sizes of each array of snapshots that a device's observer gets.
    private actor Deliveries {
        private(set) var all: [[String: Int]] = []
        func add(_ snapshots: [Snapshot<Note>]) {
            all.append(Dictionary(uniqueKeysWithValues: snapshots.map { ($0.id, $0.value?.text.utf8.count ?? -1) }))
        }
    }

    private func observe(_ client: SyncClient, _ deliveries: Deliveries) -> Task<Void, any Error> {
        Task { for try await snapshots in client.notes.snapshots() { await deliveries.add(snapshots) } }
    }

    private func verified(_ client: SyncClient, _ revision: Revision) async throws {
        _ = try await first(of: client.statuses, "verified at \(revision)") {
            $0.isVerified && $0.isLive && $0.cursor.map { $0.revision >= revision } ?? false
        }
    }

    @Test(arguments: [true, false]) func largeRecordsAreListedAndReadableOffline(_ onDisk: Bool) async throws {
        // Given a server with a record that is too large for the feed
        let fixture = try ServerFixture()
        let directory = TemporaryDirectory()
        let ann = try await fixture.live()
        _ = try await within { try await ann.notes.setValue(Note(text: "small"), forKey: "a").waitUntilConfirmed() }
        _ = try await within { try await ann.notes.setValue(Note(text: Self.large), forKey: "b").waitUntilConfirmed() }
        // When a device copies everything
        let bob = try await fixture.live(throughProxy: true, storage: onDisk ? .directory(directory.path) : .memory)
        try await within { try await verified(bob, Revision(2)!) }
        fixture.proxy.refuse()
        // Then it has both, with nobody's help
        #expect(try await bob.notes.ids() == ["a", "b"])
        #expect(try await bob.notes.all().map(\.value?.text.utf8.count) == [5, 100_000])
        #expect(try await bob.notes.value(forKey: "b", policy: .cacheOnly)?.text == Self.large)
        await bob.stop()
        await ann.stop()
    }

    @Test func aRecordThatGrowsPastTheLimitOfTheFeedStays() async throws {
        // Given a copy that looks at a collection
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for id in ["a", "b"] { _ = try await within { try await ann.notes.setValue(Note(text: "small"), forKey: id).waitUntilConfirmed() } }
        let bob = try await fixture.live()
        try await within { try await verified(bob, Revision(2)!) }
        let deliveries = Deliveries()
        let observing = observe(bob, deliveries)
        try await within { while await deliveries.all.isEmpty { await Task.yield() } }
        // When
        _ = try await within { try await ann.notes.setValue(Note(text: Self.large), forKey: "b").waitUntilConfirmed() }
        try await within { try await verified(bob, Revision(3)!) }
        try await within { while await deliveries.all.last?["b"] != 100_000 { await Task.yield() } }
        // Then it was there all the time, with the value before until the new one had come
        #expect(await deliveries.all.allSatisfy { $0["a"] == 5 && ($0["b"] == 5 || $0["b"] == 100_000) })
        observing.cancel()
    }

    @Test func anInvalidationOfEverythingDoesNotEmptyACopy() async throws {
        // Given a copy that looks at a collection, and whose reads are held back
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for id in 1...5 { _ = try await within { try await ann.notes.setValue(Note(text: "small"), forKey: "\(id)").waitUntilConfirmed() } }
        let bob = try await fixture.live(throughProxy: true)
        try await within { try await verified(bob, Revision(5)!) }
        let deliveries = Deliveries()
        let observing = observe(bob, deliveries)
        try await within { while await deliveries.all.isEmpty { await Task.yield() } }
        fixture.proxy.hold(answersTo: "/reads")
        // When
        let revision = try await ann.invalidate(.everything)
        _ = try await first(of: fixture.proxy.heldRequests) { _ in true }
        // Then all are there, and marked
        #expect(try await bob.notes.all().map(\.value?.text) == Array(repeating: "small", count: 5))
        #expect(try await bob.notes.all().allSatisfy { if case .unverified = $0.freshness { true } else { false } })
        #expect(!bob.status.isVerified)
        // When the server has answered
        fixture.proxy.release()
        try await within { try await verified(bob, revision) }
        // Then
        #expect(try await bob.notes.all().allSatisfy { $0.freshness == .live })
        #expect(await deliveries.all.allSatisfy { $0.count == 5 })
        observing.cancel()
    }

    @Test func anAtomicBatchShowsAtOnce() async throws {
        // Given a copy that looks at the arrays and at the changes of a collection
        let fixture = try ServerFixture()
        let bob = try await fixture.live()
        let deliveries = Deliveries()
        let observing = observe(bob, deliveries)
        let changes = Task {
            var ids: Set<String> = []
            for try await change in bob.notes.changes() {
                ids.formUnion(change.inserted.map(\.id))
                #expect(ids.count % 2 == 0)
                if ids.count == 80 { return }
            }
        }
        // When pairs are written, each by an atomic batch
        for number in 1...40 as ClosedRange<Int64> {
            let pair = ["a\(number)", "b\(number)"].enumerated().map { place, id in
                #"{"number":\#(2 * number - 1 + Int64(place)),"op":"put","key":"notes/\#(id)","value":{"text":"x","votes":0}}"#
            }
            let body = #"{"client":"bank","atomic":true,"writes":[\#(pair.joined(separator: ","))]}"#
            let answer = try await curl([
                "-H", "Content-Type: application/json", "-d", body, "http://127.0.0.1:\(fixture.port)/v1/test/writes",
            ])
            try #require(answer.status == 200)
        }
        // Then nobody has seen half of a pair
        try await within { try await changes.value }
        try await within { while await deliveries.all.last?.count != 80 { await Task.yield() } }
        #expect(await deliveries.all.allSatisfy { $0.count % 2 == 0 })
        observing.cancel()
    }
}
