import FreshetClient
import FreshetTestKit
import FreshetTestSupport
import FreshetWire
import Testing

/// Operations on the namespace itself while devices follow it.
@Suite(.timeLimit(.minutes(5))) struct OperationTests {
    @Test func aResetKeepsRecordsAndWaitingWrites() async throws {
        // Given devices with a record, and a write that waits
        let kit = try TestKit()
        let phone = try await kit.device("phone"), laptop = try await kit.device("laptop")
        try await phone.notes.setValue(Note(text: "before"), forKey: "1")
        try await kit.waitUntilIdle()
        let before = try await kit.cursor()
        let frozen = try kit.fault(.freeze, on: .writes, of: phone, times: .untilCleared)
        try await phone.tallies.increment("/count", of: "visits")
        try await kit.waitForFault(frozen)
        // When
        try await kit.reset()
        kit.clearFaults()
        try await kit.waitUntilIdle()
        // Then there is a new history with all records
        #expect(try await kit.cursor().epoch != before.epoch)
        #expect(laptop.notes["1"]?.value == Note(text: "before"))
        #expect(laptop.tallies["visits"]?.value == Tally(count: 1))
        #expect(phone.status.cursor == laptop.status.cursor)
        await kit.close()
    }

    @Test func aResetOfNothingIsSaidToBe() async throws {
        let kit = try TestKit()
        await #expect(throws: TestKitError.self) { try await kit.reset() }
    }

    @Test func aDeviceThatMissedForgottenDeletesLosesThemAllTheSame() async throws {
        // Given a laptop that holds two records and stops
        let kit = try TestKit()
        let folder = TemporaryDirectory()
        let laptop = try await kit.device("laptop", storage: .directory(folder.file("laptop")))
        for id in ["1", "2"] { try await kit.notes.setValue(Note(text: id), forKey: id) }
        try await kit.waitUntilIdle()
        await laptop.stop()
        // When one is deleted, and its tombstone discarded
        try await kit.notes.removeValue(forKey: "1")
        #expect(try await kit.compact() == 1)
        // Then the laptop removes the record all the same
        try await laptop.start()
        try await kit.waitUntilIdle()
        #expect(try await laptop.notes.ids() == ["2"])
        await kit.close()
    }

    @Test func aDeviceThatWaitsForOtherThingsIsAtRestAfterACompaction() async throws {
        // Given a device that waits for notes, at a position before the delete of another record
        let kit = try TestKit()
        let phone = try await kit.device("phone") { $0.collections = ["notes"] }
        try await kit.notes.setValue(Note(text: "kept"), forKey: "1")
        try await kit.waitUntilIdle()
        try await kit.tallies.setValue(Tally(count: 1), forKey: "1")
        try await kit.tallies.removeValue(forKey: "1")
        // When the tombstone is discarded
        #expect(try await kit.compact() == 1)
        try await kit.waitUntilIdle()
        // Then the device moves past it, without a reset
        #expect(try await kit.cursor() == phone.status.cursor)
        #expect(phone.notes["1"]?.value == Note(text: "kept"))
        await kit.close()
    }

    @Test func theBackendReadsAndWritesPastAllFaults() async throws {
        // Given that all requests are lost
        let kit = try TestKit()
        try kit.fault(.answer(503), times: .untilCleared)
        // When
        let revision = try await kit.notes.setValue(Note(text: "a"), forKey: "a/b")
        try await kit.notes.setValue(Note(text: "b"), forKey: "b")
        try await kit.notes.removeValue(forKey: "b")
        // Then
        #expect(revision == Revision(1))
        #expect(try await kit.notes.all().map(\.id) == ["a/b"])
        #expect(try await kit.notes.all().map(\.value) == [Note(text: "a")])
        #expect(try await kit.notes.value(forKey: "b") == nil)
        await #expect { try await kit.notes.removeValue(forKey: "b") } throws: { "\($0)".contains("not-found") }
        await #expect { try await kit.backend("no/name", of: Note.self).all() } throws: { "\($0)".contains("is no collection") }
        #expect(try await kit.invalidate(.everything) == Revision(4))
        await kit.close()
    }
}
