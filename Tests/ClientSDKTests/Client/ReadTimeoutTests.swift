import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

/// Reads on networks that swallow everything.
@Suite struct ReadTimeoutTests {
    private let directory = TemporaryDirectory()

    /// A server that takes requests and never answers.
    private func silentServer() -> ScriptedServer { ScriptedServer { $0.waitUntilClosed() } }

    @Test func aReadOnASilentNetworkEndsAtItsDeadline() async throws {
        // Given
        let server = silentServer()
        let client = try ServerFixture.client(server.url) {
            $0.following = .cachedRecords
            // Only the deadline of the read can end it while this test runs.
            ($0.readTimeout, $0.requestTimeout) = (.milliseconds(300), .seconds(600))
        }
        try await client.start()
        // When
        // Then no policy returns an unknown value
        for policy in [ReadPolicy.cacheElseNetwork, .networkOnly, .networkElseCache] {
            await #expect(throws: ClientError.self) { try await within { try await client.notes.value(forKey: "1", policy: policy) } }
        }
        await client.stop()
    }

    @Test func aClientThatIsOfflineAnswersWithoutWaiting() async throws {
        // Given a client that could not reach its server for more than a second
        let fixture = try ServerFixture()
        let client = try await fixture.live(throughProxy: true) { $0.following = .cachedRecords }
        _ = try await within { try await client.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        fixture.proxy.refuse()
        try await client.offline()
        // When a read is repeated until the client takes the outage for one
        while true {
            let start = ContinuousClock.now
            await #expect(throws: ClientError.self) { try await within { try await client.notes.value(forKey: "2", policy: .networkOnly) } }
            // Then it does not wait for four attempts
            if start.duration(to: .now) < .milliseconds(10) { break }
        }
        #expect(try await client.notes.value(forKey: "1", policy: .networkElseCache) == Note(text: "a"))
        await client.stop()
    }

    @Test func aCompleteCopyKnowsWhatThereIsNotWithoutTheNetwork() async throws {
        // Given a copy
        let fixture = try ServerFixture()
        let client = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
        _ = try await within { try await client.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        _ = try await first(of: client.statuses) { $0.cursor?.revision == Revision(1) }
        // When a record is read that there is not
        let live = try await client.notes.snapshot(forKey: "2")
        // Then the copy says so, as of its position
        #expect(live.isKnown && !live.exists && live.freshness == .live)
        #expect(live.revision == client.status.cursor?.revision)
        // When the network is away, and the process was another
        fixture.proxy.refuse()
        await client.stop()
        let second = try fixture.client(throughProxy: true, storage: .directory(directory.path))
        try await second.start()
        // Then so it is
        for policy in [ReadPolicy.cacheOnly, .cacheElseNetwork, .networkElseCache] {
            let snapshot = try await within { try await second.notes.snapshot(forKey: "2", policy: policy) }
            #expect(snapshot.isKnown && !snapshot.exists && snapshot.revision == live.revision)
            if case .confirmed? = snapshot.freshness {} else { Issue.record("\(String(describing: snapshot.freshness))") }
        }
        // When someone writes the record
        fixture.proxy.acceptAgain()
        let other = try await fixture.live()
        _ = try await within { try await other.notes.setValue(Note(text: "b"), forKey: "2").waitUntilConfirmed() }
        _ = try await first(of: second.notes.snapshots(forKey: "2")) { $0.value == Note(text: "b") }
        #expect(try await second.notes.value(forKey: "2") == Note(text: "b"))
        await second.stop()
    }
}
