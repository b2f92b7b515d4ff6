import FreshetClient
import FreshetTestKit
import FreshetWire
import Testing

@Suite(.timeLimit(.minutes(2))) struct BackendListTests {
    /// Each pair is equal to `String`, and two records to the server.
    private static let pairs = [("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}"), ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}")]

    @Test func idsThatOnlyLookAlikeAreAllListed() async throws {
        // Given
        let kit = try TestKit()
        for (number, (one, other)) in Self.pairs.enumerated() {
            #expect(one == other)
            try await kit.notes.setValue(Note(text: "\(number) a"), forKey: one)
            try await kit.notes.setValue(Note(text: "\(number) b"), forKey: other)
        }
        // When
        let records = try await kit.notes.all()
        // Then they are in the order of their bytes, as the SDK lists them
        let ids = Self.pairs.flatMap { [$0, $1] }.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(records.map { Array($0.id.utf8) } == ids)
        #expect(Set(records.map(\.key)).count == ids.count && Set(records).count == ids.count)
        for record in records { #expect(try await kit.notes.value(forKey: record.id) == record.value) }
        // And a device has as many
        let phone = try await kit.device("phone")
        try await kit.waitUntilIdle()
        #expect(try await phone.notes.all().map { Array($0.id.utf8) } == ids)
        await kit.close()
    }

    @Test func aRecordThatDoesNotDecodeIsListedWithItsError() async throws {
        // Given
        let kit = try TestKit()
        try await kit.backend("notes", of: Tally.self).setValue(Tally(count: 1), forKey: "2")
        try await kit.notes.setValue(Note(text: "a"), forKey: "1")
        try await kit.notes.setValue(Note(text: "c"), forKey: "3")
        // When
        let records = try await kit.notes.all()
        // Then
        #expect(records.map(\.value) == [Note(text: "a"), nil, Note(text: "c")])
        #expect(records.map(\.revision) == [Revision(2), Revision(1), Revision(3)])
        #expect("\(try #require(records[1].decodingError))".contains("notes/2"))
        #expect(records[1].content.bytes == Array(#"{"count":1}"#.utf8) && records[0].decodingError == nil)
        await #expect(throws: TestKitError.self) { try await kit.notes.value(forKey: "2") }
        await kit.close()
    }

    @Test func snapshotsOfIDsThatOnlyLookAlikeDiffer() async throws {
        let kit = try TestKit()
        let phone = try await kit.device("phone")
        try await phone.notes.setValue(Note(text: "a"), forKey: Self.pairs[0].0).waitUntilConfirmed()
        let snapshot = try await phone.notes.snapshot(forKey: Self.pairs[0].0)
        var other = snapshot
        #expect(other == snapshot)
        other.id = Self.pairs[0].1
        #expect(other != snapshot && Set([snapshot, other]).count == 2)
        await kit.close()
    }
}
