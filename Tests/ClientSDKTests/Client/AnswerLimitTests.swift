import FreshetClient
import TestSupport
import Testing

@Suite("Answers above the limit of a client") struct AnswerLimitTests {
    private static let ids = (1...10).map { "\($0)" }

    /// A server with ten records of 60 kB, which come in one page and in one answer to a reading.
    private func world() async throws -> World {
        let world = try World()
        let ann = try await world.live()
        for id in Self.ids { try await ann.notes.set(Note(text: String(repeating: "x", count: 60_000)), for: id) }
        try await within { try await ann.drained() }
        return world
    }

    @Test("a client that takes small answers follows everything in small pages")
    func following() async throws {
        // Given
        let world = try await world()
        // When
        let bob = try await world.live { $0.responseLimit = 128 << 10 }
        // Then
        #expect(Set(try await bob.notes.ids()) == Set(Self.ids) && bob.status.feedError == nil)
    }

    @Test("a client that takes small answers reads few records at a time")
    func reading() async throws {
        // Given
        let world = try await world()
        let bob = try await world.live {
            $0.responseLimit = 128 << 10
            $0.following = .held
        }
        // When
        try await within { try await bob.notes.prefetch(Self.ids) }
        // Then
        for id in Self.ids { #expect(bob.notes[id]?.value?.text.count == 60_000) }
    }

    @Test("a record that alone is larger than the limit is an error for who reads it, and for nobody else")
    func largeRecord() async throws {
        // Given
        let world = try await world()
        let ann = try await world.live()
        _ = try await within { try await ann.notes.set(Note(text: String(repeating: "x", count: 200_000)), for: "large").confirmed() }
        let bob = try await world.live { $0.responseLimit = 128 << 10 }
        // When
        await #expect(throws: ClientError.self) {
            _ = try await within { try await bob.notes.value(for: "large") }
        }
        // Then
        let other = try await within { try await bob.notes.value(for: "1") }
        #expect(other?.text.count == 60_000 && bob.status.feedError == nil)
    }
}
