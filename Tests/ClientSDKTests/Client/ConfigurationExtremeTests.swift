import FreshetClient
import FreshetTestSupport
import Testing

@Suite("Settings and arguments of a client at the ends of their types")
struct ConfigurationExtremeTests {
    private let directory = TemporaryDirectory()

    @Test("the longest times and the largest limits work", arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 18])
    func largest(time: Duration) async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try fixture.client(storage: .directory(directory.path)) {
            $0.following = .cachedRecords
            ($0.grace, $0.requestTimeout, $0.readTimeout) = (time, time, time)
            ($0.connectTimeout, $0.firstDelay, $0.longestDelay) = (time, time, time)
            ($0.memoryLimit, $0.diskLimit, $0.fileLimit, $0.responseLimit) = (.max, .max, .max, .max)
        }
        try await client.start()
        try await within { try await client.waitUntilLive() }
        // When and then
        _ = try await within { try await client.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        #expect(try await within { try await client.notes.value(forKey: "1", policy: .networkOnly) } == Note(text: "a"))
        #expect(try await within { try await client.notes.ids() } == ["1"])
        #expect(try await within { try await client.notes.all(policy: .networkOnly) }.count == 1)
        await client.stop()
    }

    @Test("the smallest times and limits work, or the error names valid ones")
    func smallest() async throws {
        // Given
        let url = "http://127.0.0.1:1"
        let changes: [@Sendable (inout SyncClient.Configuration) -> Void] = [
            { $0.grace = .seconds(Int64.min) }, { $0.requestTimeout = .zero }, { $0.readTimeout = .seconds(-1) },
            { $0.connectTimeout = .zero }, { $0.firstDelay = .seconds(Int64.min) }, { $0.longestDelay = .zero },
            { $0.hold = .seconds(Int64.min) }, { $0.hold = .seconds(Int64.max) * 18 }, { $0.hold = .milliseconds(1_500) },
            { $0.memoryLimit = .min }, { $0.diskLimit = .min },
            { $0.fileLimit = .min }, { $0.responseLimit = .min }, { $0.url = "" },
            { $0.namespace = "" }, { $0.storage = .directory("") }, { $0.client = "" }, { $0.collections = [""] },
            { $0.prefix = String(repeating: "x", count: 10_000) },
        ]
        // Then
        for change in changes { #expect(throws: ClientError.self) { try ServerFixture.client(url, change) } }
        let client = try ServerFixture.client(url) {
            ($0.grace, $0.requestTimeout, $0.readTimeout) = (.milliseconds(1), .milliseconds(1), .milliseconds(1))
            ($0.connectTimeout, $0.firstDelay, $0.longestDelay) = (.milliseconds(1), .milliseconds(1), .milliseconds(1))
            ($0.memoryLimit, $0.diskLimit) = (0, 262_144)
        }
        try await client.start()
        await #expect(throws: ClientError.self) { try await within { try await client.notes.ids(policy: .networkOnly) } }
        await client.stop()
    }

    @Test("names, ids, amounts and lists that cannot be are errors")
    func arguments() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        let notes = client.notes
        // Then
        for id in ["", "\0", String(repeating: "x", count: 513)] {
            await #expect(throws: ClientError.self) { try await notes.setValue(Note(text: "a"), forKey: id) }
            await #expect(throws: ClientError.self) { try await notes.value(forKey: id) }
            await #expect(throws: ClientError.self) { try await notes.explain(id) }
            #expect(notes[id] == nil)
        }
        let unnamed = client.collection("", of: Note.self)
        await #expect(throws: ClientError.self) { try await unnamed.ids() }
        await #expect(throws: ClientError.self) { try await unnamed.all(policy: .networkOnly) }
        await #expect(throws: ClientError.self) { try await client.invalidate([]) }
        try await notes.prefetch([])
        // When a number is at the end of its type
        try await notes.setValue(Note(text: "a", votes: .max), forKey: "1")
        await #expect(throws: ClientError.self) { try await notes.increment("/votes", by: .max, of: "1") }
        try await notes.increment("/votes", by: .min, of: "1", min: .min, max: .max)
        try await notes.increment("/votes", by: .min + 1, of: "1")
        await #expect(throws: ClientError.self) { try await notes.increment("/votes", by: .min, of: "1") }
        await #expect(throws: ClientError.self) { try await notes.increment("/votes", by: Double.nan, of: "1") }
        // Then the device and the server have the same
        try await within { try await client.waitUntilDrained() }
        #expect(try await within { try await notes.value(forKey: "1", policy: .networkOnly) } == notes["1"]?.value)
        await client.stop()
    }
}
