import FreshetClient
import FreshetFaultProxy
import FreshetTestSupport
import Testing

@Suite struct WatchdogTests {
    @Test func aConnectionOnWhichNothingComesIsNoticedAndReplaced() async throws {
        // Given a live device, whose answers to polls stop coming while the connection stays open, as with a half-open socket
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        let bob = try fixture.client(throughProxy: true) {
            $0.hold = .seconds(1)
            $0.grace = .milliseconds(200)
        }
        try await bob.start()
        try await within { try await bob.waitUntilLive() }
        fixture.proxy.hold(answersTo: "GET /v1/test/changes")
        // When it hears nothing for longer than hold and grace
        try await bob.offline()
        // Then it does not claim to be live, and reads the missed changes on a new connection
        _ = try await within { try await ann.notes.setValue(Note(text: "missed"), forKey: "1").waitUntilConfirmed() }
        #expect(bob.notes["1"] == nil)
        fixture.proxy.release()
        let seen = try await first(of: bob.notes.snapshots(forKey: "1", policy: .cacheOnly)) { $0.exists }
        #expect(seen.value == Note(text: "missed"))
        try await within { try await bob.waitUntilLive() }
    }

    @Test func aClientThatIsLetGoOfStopsAndFreesItsDirectory() async throws {
        let fixture = try ServerFixture()
        let directory = TemporaryDirectory()
        do {
            let client = try await fixture.live(storage: .directory(directory.path))
            _ = try await within { try await client.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        }
        // The directory is free as soon as the client's queue has seen to it
        let next = try fixture.client(storage: .directory(directory.path))
        try await within {
            while true {
                do {
                    return try await next.start()
                } catch ClientError.directoryInUse {
                    await Task.yield()
                }
            }
        }
        #expect(try await next.notes.value(forKey: "1", policy: .cacheOnly) == Note(text: "a"))
        await next.stop()
    }

    @Test func manyChangesAtOnceArriveComplete() async throws {
        // Given 500 writes at once from one device, and another that follows
        let fixture = try ServerFixture()
        let (ann, bob) = (try await fixture.live(), try await fixture.live())
        try await withThrowingTaskGroup { group in
            for number in 0..<500 {
                group.addTask { _ = try await ann.notes.setValue(Note(text: "\(number)"), forKey: "\(number)") }
            }
            try await group.waitForAll()
        }
        // Then both end with all of them
        try await within { try await ann.waitUntilDrained() }
        let all = try await first(of: bob.notes.snapshots()) { $0.count == 500 }
        #expect(all.allSatisfy { $0.value?.text == $0.id })
    }
}
