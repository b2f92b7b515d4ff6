import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("The descriptions of snapshots, statuses and statistics")
struct DescriptionTests {
    @Test("a snapshot says its value, and how far it can be relied on")
    func snapshot() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await fixture.live(throughProxy: true)
        // When and then
        #expect("\(try await client.notes.snapshot(forKey: "2", policy: .cacheOnly))" == "2: no record, at revision 0, from feed, live")
        fixture.proxy.hold(answersTo: "POST /v1/test/writes")
        try await client.notes.setValue(Note(text: "a"), forKey: "1")
        #expect("\(try #require(client.notes["1"]))".hasPrefix("1: Note(text: \"a\", votes: 0), "))
        #expect("\(try #require(client.notes["1"]))".contains("from ownWrite, pending"))
        fixture.proxy.release()
        try await within { try await client.waitUntilDrained() }
        let other = client.collection("notes", of: Int.self)
        let text = "\(try #require(other["1"]))"
        #expect(text.hasPrefix("1: 22 bytes of application/json, at revision 1, from "))
        #expect(text.contains("not of the type asked for"))
        #expect("\(try await client.notes.explain("1"))".hasPrefix("notes/1: 22 bytes of application/json, at revision 1, from "))
        // And a long value is cut
        try await client.notes.setValue(Note(text: String(repeating: "x", count: 100_000)), forKey: "3")
        #expect("\(try #require(client.notes["3"]))".utf8.count < 1_000)
        await client.stop()
    }

    @Test("a status says what is missing and what to do")
    func status() throws {
        let since = try #require(Timestamp("2026-11-21T15:34:05.250Z"))
        #expect("\(SyncClient.Status(connection: .stopped))" == "stopped")
        #expect("\(SyncClient.Status(connection: .live, cursor: try Cursor("c41-7")))" == "live at c41-7")
        let status = SyncClient.Status(
            connection: .offline(since: since), cursor: try Cursor("c41-7"), waitingWrites: 3, missingMergeClosures: ["notes": 2],
            rejectedWrites: 1, droppedRejections: 4, isVerified: false, feedError: .unreachable("no route"), writeError: .unauthorized)
        #expect(
            "\(status)" == """
                offline since 2026-11-21T15:34:05.250Z at c41-7, not all that is cached is verified, 3 writes wait, 2 of them for the merge \
                closure of notes, 1 was rejected, 4 more rejected and dropped; changes are not followed: the server cannot be reached: no \
                route; writes are not sent: the server refused the token, a fresh one too: log in again
                """)
    }

    @Test("statistics say hits, misses and what they hold")
    func statistics() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        _ = try await within { try await client.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        // When
        for _ in 1...3 { _ = client.notes["1"] }
        // Then
        let statistics = await client.statistics()
        #expect("\(statistics)" == "memory: \(statistics.memory); disk: \(statistics.disk)")
        #expect("\(statistics.memory)".contains("\(statistics.memory.hits) hits and "))
        #expect("\(statistics.memory)".hasSuffix(" %), 0 evictions, \(statistics.memory.bytes) bytes"))
        // And so they do where they were set to what none can be
        var extreme = statistics.memory
        (extreme.hits, extreme.misses, extreme.evictions) = (.max, .max, .min)
        #expect("\(extreme)".contains(" misses (50.0 %), ") && (extreme - extreme).hits == 0)
        #expect((statistics.memory - extreme).evictions < 0)
        await client.stop()
    }
}
