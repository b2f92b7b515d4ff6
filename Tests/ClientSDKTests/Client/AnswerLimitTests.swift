import Foundation
import FreshetClient
import FreshetServer
import FreshetTestSupport
import Testing

@Suite("Answers above the limit of a client") struct AnswerLimitTests {
    private static let ids = (1...10).map { "\($0)" }

    /// A server with ten records of 60 kB, which come in one page and in one answer to a reading.
    private func fixture() async throws -> ServerFixture {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for id in Self.ids { try await ann.notes.setValue(Note(text: String(repeating: "x", count: 60_000)), forKey: id) }
        try await within { try await ann.waitUntilDrained() }
        return fixture
    }

    @Test("a client that takes small answers follows everything in small pages")
    func following() async throws {
        // Given
        let fixture = try await fixture()
        // When
        let bob = try await fixture.live { $0.responseLimit = 128 << 10 }
        // Then
        #expect(Set(try await bob.notes.ids()) == Set(Self.ids) && bob.status.feedError == nil)
    }

    @Test("a client that takes small answers gets an atomic batch that is larger, change by change")
    func atomicBatch() async throws {
        // Given an atomic batch of 600 kB, which the server sends on one page
        let fixture = try ServerFixture()
        let value = "{\"text\":\"\(String(repeating: "x", count: 60_000))\",\"votes\":0}"
        let writes = (1...10).map { "{\"number\":\($0),\"op\":\"put\",\"key\":\"notes/\($0)\",\"value\":\(value)}" }
        let folder = TemporaryDirectory()
        let body = "{\"client\":\"till\",\"atomic\":true,\"writes\":[\(writes.joined(separator: ","))]}"
        try body.write(toFile: folder.file("batch.json"), atomically: true, encoding: .utf8)
        let message = ["-H", "Content-Type: application/json", "-d", "@\(folder.file("batch.json"))"]
        #expect(try await curl(message + ["\(fixture.server.url)/v1/test/writes"]).status == 200)
        // When
        let bob = try await fixture.live { $0.responseLimit = 128 << 10 }
        // Then
        #expect(Set(try await bob.notes.ids()) == Set(Self.ids) && bob.status.feedError == nil)
        #expect(Self.ids.allSatisfy { bob.notes[$0]?.value?.text.count == 60_000 })
    }

    @Test("a client that takes small answers reads few records at a time")
    func reading() async throws {
        // Given
        let fixture = try await fixture()
        let bob = try await fixture.live {
            $0.responseLimit = 128 << 10
            $0.following = .cachedRecords
        }
        // When
        try await within { try await bob.notes.prefetch(Self.ids) }
        // Then
        for id in Self.ids { #expect(bob.notes[id]?.value?.text.count == 60_000) }
    }

    @Test("a record that alone is larger than the limit is an error for its readers, and for nobody else")
    func largeRecord() async throws {
        // Given
        let fixture = try await fixture()
        let ann = try await fixture.live()
        _ = try await within {
            try await ann.notes.setValue(Note(text: String(repeating: "x", count: 200_000)), forKey: "large").waitUntilConfirmed()
        }
        let bob = try await fixture.live { $0.responseLimit = 128 << 10 }
        // When
        await #expect(throws: ClientError.self) {
            _ = try await within { try await bob.notes.value(forKey: "large") }
        }
        // Then
        let other = try await within { try await bob.notes.value(forKey: "1") }
        #expect(other?.text.count == 60_000 && bob.status.feedError == nil)
    }
}
