import FreshetTestSupport
import Synchronization
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

    @Test("opens new connections, since its idle ones may be dead", .timeLimit(.minutes(5)))
    func deadConnections() async throws {
        // Given a server whose connections from before the sleep stay open, and on which nothing comes back after it
        let hasSlept = Mutex(false)
        let (polls, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = ScriptedServer { connection in
            let isDead = !hasSlept.withLock { $0 }
            while let (head, _) = connection.request() {
                if isDead, hasSlept.withLock({ $0 }) { return connection.waitUntilClosed() }
                if !isDead { continuation.yield() }
                if head.contains("since=a-9"), !head.contains("wait=0") { return connection.waitUntilClosed() }
                let list = #"{"records":[],"next":null,"cursor":"a-9"}"#
                let page = #"{"changes":[],"cursor":"a-9","upToDate":true}"#
                connection.respond(
                    head.contains("/changes") ? page : list,
                    fields: "Freshet-Cursor: a-9\r\nFreshet-Last-Write: 0\r\nContent-Type: application/json\r\n")
            }
        }
        let client = try ServerFixture.client(server.url) {
            ($0.following, $0.hold) = (.cachedRecords, .seconds(60))
            ($0.grace, $0.requestTimeout) = (.seconds(600), .seconds(600))
        }
        try await client.start()
        try await within { try await client.waitUntilLive() }
        // And a device with an idle connection beside its poll
        #expect(try await within { try await client.notes.ids() } == [])
        // When it notices the sleep
        hasSlept.withLock { $0 = true }
        await client.engine.act(on: (gap: true, due: false, readDue: false))
        // Then it polls on a new connection, long before any request has timed out
        try await within(.seconds(50), "a request on a new connection") { for await _ in polls { return } }
        try await within { try await client.waitUntilLive() }
        await client.stop()
    }
}
