import FreshetTestSupport
import Testing

@testable import FreshetClient

@Suite("A device that slept")
struct SleepTests {
    @Test("is not live at its first read, and live again once the server has answered")
    func asked() async throws {
        // Given a live device with a value
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        let bob = try await fixture.live()
        let revision = try #require(try await within { try await ann.notes.setValue(Note(text: "old"), forKey: "1").waitUntilConfirmed() })
        try await bob.past(revision)
        #expect(bob.status.isLive)
        #expect(bob.notes["1"]?.freshness == .live)
        // When the time of its poll is over, which no timer of the device has noticed
        bob.engine.memory.liveUntil = DeviceClock.uptime
        // Then
        #expect(!bob.status.isLive)
        let snapshot = try #require(bob.notes["1"])
        #expect(snapshot.freshness == .confirmed(at: try #require(snapshot.verified)))
        // And when a change comes by a poll that was under way, and is followed by another
        let next = try #require(try await within { try await ann.notes.setValue(Note(text: "new"), forKey: "1").waitUntilConfirmed() })
        try await bob.past(next)
        // Then
        try await within { while !bob.status.isLive { await Task.yield() } }
        #expect(bob.notes["1"]?.freshness == .live)
        #expect(bob.notes["1"]?.value == Note(text: "new"))
    }

    @Test("may be live no longer than its poll may take")
    func bounded() async throws {
        let fixture = try ServerFixture()
        let before = DeviceClock.uptime
        let bob = try await fixture.live {
            $0.hold = .seconds(20)
            $0.grace = .seconds(5)
        }
        let end = bob.engine.memory.liveUntil
        #expect(end >= before + 25_000)
        #expect(end <= DeviceClock.uptime + 25_000)
    }
}
