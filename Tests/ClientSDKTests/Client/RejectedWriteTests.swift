import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import FreshetWire
import Testing

/// The calls of an app for rejected writes.
@Suite struct RejectedWriteTests {
    private let directory = TemporaryDirectory()

    /// A device whose write was rejected while nobody listened, and whose process has ended; and the record that was there.
    private func rejected() async throws -> ServerFixture {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        _ = try await within { try await ann.notes.setValue(Note(text: "base"), forKey: "1").waitUntilConfirmed() }
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path))
        fixture.proxy.refuse()
        try await bob.offline()
        _ = try await within { try await ann.notes.setValue(Note(text: "theirs"), forKey: "1").waitUntilConfirmed() }
        try await bob.notes.setValue(Note(text: "mine"), forKey: "1", onConflict: .rejectIfChanged)
        fixture.proxy.acceptAgain()
        try await within { try await bob.waitUntilDrained() }
        await bob.stop()
        return fixture
    }

    private func bob(_ fixture: ServerFixture) async throws -> SyncClient { try await fixture.live(storage: .directory(directory.path)) }

    @Test("a rejected write is listed after a restart, with what the user wrote and what was there")
    func isListed() async throws {
        // Given
        let fixture = try await rejected()
        // When
        let bob = try await bob(fixture)
        // Then
        let all = try await bob.rejections.all()
        let rejection = try #require(all.first)
        #expect(all.count == 1 && bob.status.rejectedWrites == 1 && bob.status.droppedRejections == 0)
        #expect(try bob.notes.value(of: rejection) == Note(text: "mine") && rejection.key.description == "notes/1")
        #expect(rejection.problem.current?.content?.bytes == Array(#"{"text":"theirs","votes":0}"#.utf8))
        #expect(rejection.written <= rejection.rejected)
        let first = try await first(of: bob.rejections) { _ in true }
        #expect(first == all)
        await bob.stop()
    }

    @Test("it can be retried with another value, once")
    func retries() async throws {
        // Given
        let fixture = try await rejected()
        let bob = try await bob(fixture)
        let rejection = try #require(try await bob.rejections.all().first)
        // When
        let write = try await bob.notes.retry(rejection, with: Note(text: "both"))
        // Then it is a write as any other, compared with the current record
        _ = try await within { try await write.waitUntilConfirmed() }
        #expect(try await bob.rejections.all().isEmpty && bob.notes["1"]?.value == Note(text: "both"))
        await #expect(throws: ClientError.unknownRejection(rejection.number)) { try await bob.rejections.retry(rejection) }
        await #expect(throws: ClientError.unknownRejection(rejection.number)) { try await bob.rejections.discard(rejection) }
        await #expect(throws: ClientError.self) { try await bob.collection("other", of: Note.self).retry(rejection, with: Note(text: "x")) }
        await bob.stop()
        // And it stays gone
        try await bob.start()
        #expect(try await bob.rejections.all().isEmpty && bob.status.rejectedWrites == 0)
        await bob.stop()
    }

    @Test("it can be retried as it was, over any current record")
    func retriesAsItWas() async throws {
        let fixture = try await rejected()
        let bob = try await bob(fixture)
        let rejection = try #require(try await bob.rejections.all().first)
        let write = try await bob.rejections.retry(rejection, onConflict: .lastWriterWins)
        _ = try await within { try await write.waitUntilConfirmed() }
        #expect(bob.notes["1"]?.value == Note(text: "mine"))
        await bob.stop()
    }

    @Test("observers get the list at once, and again when it changes; the sequence ends with the client")
    func observes() async throws {
        // Given
        let fixture = try await rejected()
        let bob = try await bob(fixture)
        var lists = bob.rejections.makeAsyncIterator()
        let rejection = try #require(try await lists.next()?.first)
        // When
        try await bob.rejections.discard(rejection)
        // Then
        #expect(try await lists.next() == [])
        #expect(bob.status.rejectedWrites == 0)
        await bob.stop()
        #expect(try await lists.next() == nil)
        await #expect(throws: ClientError.stopped) { try await bob.rejections.all() }
    }

    @Test("a log-out removes the list")
    func clear() async throws {
        // Given
        let fixture = try await rejected()
        let bob = try await bob(fixture)
        var lists = bob.rejections.makeAsyncIterator()
        let rejection = try #require(try await lists.next()?.first)
        // When
        try await within { try await bob.clear() }
        // Then
        #expect(try await lists.next() == [])
        #expect(try await bob.rejections.all().isEmpty && bob.status.rejectedWrites == 0)
        await #expect(throws: ClientError.unknownRejection(rejection.number)) { try await bob.rejections.retry(rejection) }
        await bob.stop()
        try await bob.start()
        #expect(try await bob.rejections.all().isEmpty)
        await bob.stop()
    }
}
