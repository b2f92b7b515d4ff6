import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("Values that no server stores") struct UnstorableValueTests {
    private let directory = TemporaryDirectory()

    /// A client whose server cannot be reached.
    private func client() async throws -> SyncClient {
        let client = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path))
        try await client.start()
        return client
    }

    /// Restarts the client, and checks that it shows its earlier write and no other.
    private func restart(_ client: SyncClient) async throws {
        await client.stop()
        let next = try await self.client()
        #expect(next.notes["1"]?.value == Note(text: "earlier") && next.status.waitingWrites == 1)
        #expect(!directory.files.contains { $0.contains("corrupt") }, "\(directory.files)")
        await next.stop()
    }

    private func isNotEncodable(_ error: ClientError?) -> Bool {
        if case .notEncodable? = error { true } else { false }
    }

    private static func json(_ text: String, type: String = Content.json) -> Content { Content(bytes: Array(text.utf8), type: type) }

    static let contents: [Content] = [
        Content(bytes: [1], type: ""), Content(bytes: [1], type: "text/plain; name=é"), Content(bytes: [1], type: "text/plain\r\nx: y"),
        Content(bytes: [1], type: String(repeating: "x", count: 256)), json(""), json("hello"),
        json(#"1,"key":"c/other""#, type: "application/json; charset=utf-8"), json(#"{"a":1,"a":2}"#), json(#""\ud800""#),
        json(String(repeating: "[", count: 257) + String(repeating: "]", count: 257)),
    ]

    @Test("are refused, and an earlier write that was not sent survives a restart", arguments: contents)
    func areRefused(content: Content) async throws {
        // Given a client with a waiting write
        let client = try await client()
        try await client.notes.setValue(Note(text: "earlier"), forKey: "1")
        let files = client.rawCollection("files")
        // When
        let error = await #expect(throws: ClientError.self) { try await files.setValue(content, forKey: "1") }
        // Then
        #expect(isNotEncodable(error) && files["1"]?.exists != true && client.status.waitingWrites == 1)
        try await restart(client)
    }

    @Test("are refused as the result of a custom codec, and as the value from which an increment begins")
    func otherInputs() async throws {
        // Given
        let client = try await client()
        try await client.notes.setValue(Note(text: "earlier"), forKey: "1")
        let codec = ValueCodec<String>(
            encode: { Content(bytes: Array($0.utf8), type: "") }, decode: { String(decoding: $0.bytes, as: UTF8.self) })
        let texts = client.collection("texts", codec: codec)
        let counters = client.rawCollection("counters")
        // When
        let put = await #expect(throws: ClientError.self) { try await texts.setValue("text", forKey: "1") }
        let increment = await #expect(throws: ClientError.self) {
            try await counters.increment("/n", of: "1", onMissing: .create(Self.json("hello")))
        }
        // Then
        #expect(isNotEncodable(put) && isNotEncodable(increment) && client.status.waitingWrites == 1)
        try await restart(client)
    }

    @Test("as the result of a merge closure reject the write, which keeps the user's value")
    func mergeResult() async throws {
        // Given two devices that know a record, of which the second loses its network and the first then changes the record
        let (base, mine, theirs) = (Self.json("1"), Self.json("2"), Self.json("3"))
        let fixture = try ServerFixture()
        let ann = try await fixture.live().rawCollection("files")
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
        _ = try await within { try await ann.setValue(base, forKey: "1").waitUntilConfirmed() }
        let files = bob.rawCollection("files", merging: { _ in .value(Self.json("hello")) })
        _ = try await first(of: files.snapshots(forKey: "1")) { $0.exists }
        fixture.proxy.refuse()
        try await bob.offline()
        _ = try await within { try await ann.setValue(theirs, forKey: "1").waitUntilConfirmed() }
        // When
        let write = try await files.setValue(mine, forKey: "1", onConflict: .merge)
        fixture.proxy.acceptAgain()
        let outcome = try await within { try await write.outcome() }
        // Then
        guard case .rejected(let problem) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(problem.code == .preconditionFailed)
        let shown = try await first(of: files.snapshots(forKey: "1")) { !$0.isPending }
        #expect(shown.value == theirs)
        let rejections = try await bob.rejections.all()
        #expect(rejections.map(\.operation) == [.put(mine)])
        await bob.stop()
    }
}
