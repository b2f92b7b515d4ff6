import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import Testing

@Suite("Lists of collections that a device does not hold")
struct ListTests {
    private let directory = TemporaryDirectory()

    /// A server with so many notes, the device that wrote them, and one that holds nothing and follows what it holds.
    private func scene(count: Int = 3, grace: Duration = .seconds(10)) async throws -> (
        fixture: ServerFixture, ann: SyncClient, bob: SyncClient
    ) {
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        for number in 0..<count { try await ann.notes.setValue(Note(text: "a"), forKey: "\(number)") }
        try await within { try await ann.waitUntilDrained() }
        let bob = try await fixture.live(throughProxy: true, storage: .directory(directory.path)) {
            ($0.following, $0.grace) = (.cachedRecords, grace)
        }
        return (fixture, ann, bob)
    }

    @Test("a client follows everything by default")
    func defaults() async throws {
        // Given
        #expect(SyncClient.Configuration(url: "http://127.0.0.1:8180", namespace: "test").following == .everything)
        let (fixture, ann, bob) = try await scene(count: 1)
        // When a client with the default configuration is live
        let client = try SyncClient(url: fixture.server.url, namespace: "test")
        try await client.start()
        try await within { try await client.waitUntilLive() }
        // Then it has the others' writes
        #expect(try await client.notes.ids() == ["0"] && client.notes["0"]?.value == Note(text: "a"))
        for client in [client, ann, bob] { await client.stop() }
    }

    @Test("ids and values come from the server, page by page, and are held from then on")
    func lists() async throws {
        // Given more records than one page has
        let (fixture, ann, bob) = try await scene(count: 1_100)
        let all = (0..<1_100).map(String.init).sorted()
        #expect(try await bob.notes.ids(policy: .cacheOnly).isEmpty)
        // When
        let ids = try await within { try await bob.notes.ids() }
        // Then no value was stored for the ids alone
        #expect(ids == all)
        #expect(try await bob.notes.all(policy: .cacheOnly).isEmpty)
        // When
        let snapshots = try await within { try await bob.notes.all() }
        // Then
        #expect(snapshots.map(\.id) == all && snapshots.allSatisfy { $0.value == Note(text: "a") && $0.source == .fetch })
        #expect(try await bob.notes.ids(policy: .cacheOnly) == all)
        // And changes of them are followed
        let revision = try #require(try await within { try await ann.notes.setValue(Note(text: "b"), forKey: "7").waitUntilConfirmed() })
        try await bob.past(revision)
        #expect(bob.notes["7"]?.value == Note(text: "b"))
        for client in [ann, bob] { await client.stop() }
        withExtendedLifetime(fixture) {}
    }

    @Test("two ids that look alike are two: in ids, in a removal that waits, and in a prefetch")
    func bytes() async throws {
        // Given
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let (fixture, ann, bob) = try await scene(count: 0)
        for id in [composed, decomposed] { try await ann.notes.setValue(Note(text: "a"), forKey: id) }
        try await within { try await ann.waitUntilDrained() }
        // When
        let ids = try await within { try await bob.notes.ids() }
        // Then
        #expect(ids.map { Array($0.utf8) } == [decomposed, composed].map { Array($0.utf8) })
        try await within { try await bob.notes.prefetch([composed, decomposed]) }
        for id in [composed, decomposed] {
            #expect(try await bob.notes.snapshot(forKey: id, policy: .cacheOnly).value == Note(text: "a"))
        }
        // When one is removed, and the removal waits
        fixture.proxy.refuse()
        try await bob.offline()
        try await bob.notes.removeValue(forKey: composed)
        // Then the other is still listed
        #expect(try await bob.notes.ids(policy: .cacheOnly).map { Array($0.utf8) } == [Array(decomposed.utf8)])
        for client in [ann, bob] { await client.stop() }
    }

    @Test("a list shows the device's own writes, and held records that came later")
    func overlay() async throws {
        // Given a device with pending writes
        let (fixture, ann, bob) = try await scene()
        fixture.proxy.hold(answersTo: "POST /v1/test/writes")
        try await bob.notes.setValue(Note(text: "mine"), forKey: "new")
        try await bob.notes.removeValue(forKey: "1")
        // When
        let (ids, all) = try await within { (try await bob.notes.ids(), try await bob.notes.all()) }
        // Then
        #expect(ids == ["0", "2", "new"])
        #expect(all.map(\.id) == ["0", "1", "2", "new"] && all.map(\.exists) == [true, false, true, true])
        #expect(all.map(\.isPending) == [false, true, false, true])
        fixture.proxy.release()
        try await within { try await bob.waitUntilDrained() }
        #expect(try await within { try await bob.notes.ids(policy: .networkOnly) } == ["0", "2", "new"])
        for client in [ann, bob] { await client.stop() }
    }

    @Test("where the server and the device say different things of a record, it is read again")
    func differences() async throws {
        // Given a device that holds a record and an absence, and misses a change of both
        let (fixture, ann, bob) = try await scene(grace: .seconds(600))
        #expect(try await bob.notes.value(forKey: "0") != nil)
        #expect(try await bob.notes.value(forKey: "late") == nil)
        fixture.proxy.hold(answersTo: "GET /v1/test/changes")
        _ = try await within { try await ann.notes.removeValue(forKey: "0").waitUntilConfirmed() }
        _ = try await within { try await ann.notes.setValue(Note(text: "late"), forKey: "late").waitUntilConfirmed() }
        // When
        let ids = try await within { try await bob.notes.ids() }
        let all = try await within { try await bob.notes.all() }
        // Then the list has the server's current records
        #expect(ids == ["1", "2", "late"])
        #expect(all.map(\.id) == ["1", "2", "late"] && all.last?.value == Note(text: "late"))
        fixture.proxy.release()
        for client in [ann, bob] { await client.stop() }
    }

    @Test("offline, a list fails at once or has the held records, by its policy")
    func offline() async throws {
        // Given a device that holds one of the records
        let (fixture, ann, bob) = try await scene()
        #expect(try await bob.notes.value(forKey: "1") != nil)
        fixture.proxy.refuse()
        try await bob.offline()
        // When and then
        for policy in [ReadPolicy.cacheElseNetwork, .networkOnly] {
            let error = await #expect(throws: ClientError.self) { try await within { try await bob.notes.ids(policy: policy) } }
            if case .unreachable? = error {} else { Issue.record("\(String(describing: error))") }
            await #expect(throws: ClientError.self) { try await within { try await bob.notes.all(policy: policy) } }
        }
        for policy in [ReadPolicy.cacheOnly, .networkElseCache] {
            #expect(try await within { try await bob.notes.ids(policy: policy) } == ["1"])
            #expect(try await within { try await bob.notes.all(policy: policy) }.map(\.id) == ["1"])
        }
        for client in [ann, bob] { await client.stop() }
    }

    @Test("an observer is shown the list when it comes, offline as soon as the server is reached again", arguments: [false, true])
    func observers(isOffline: Bool) async throws {
        // Given
        let (fixture, ann, bob) = try await scene()
        if isOffline {
            fixture.proxy.refuse()
            try await bob.offline()
        }
        let initial = Task { try await first(of: bob.notes.changes(), "any") { _ in true } }
        if isOffline {
            // Nothing says that there are no records before the server was reached.
            #expect(try await bob.notes.ids(policy: .cacheOnly).isEmpty)
            fixture.proxy.acceptAgain()
        }
        // When and then
        let change = try await initial.value
        #expect(change.isInitial && !change.inserted.isEmpty)
        let seen = try await first(of: bob.notes.snapshots()) { $0.count == 3 }
        #expect(seen.allSatisfy { $0.value == Note(text: "a") })
        #expect(Set(change.inserted.map(\.id)).isSubset(of: ["0", "1", "2"]))
        for client in [ann, bob] { await client.stop() }
    }

    @Test("an observer is shown the list again after a clear", .timeLimit(.minutes(5)))
    func cleared() async throws {
        // Given an observer that was shown the list
        let (fixture, ann, bob) = try await scene()
        var lists = bob.notes.snapshots().makeAsyncIterator()
        while let list = try await lists.next(), list.count < 3 {}
        // When
        try await bob.clear()
        // Then the list comes again
        var ids: [String]? = []
        while ids?.count ?? 3 < 3 { ids = try await lists.next()?.map(\.id) }
        #expect(ids == ["0", "1", "2"])
        for client in [ann, bob] { await client.stop() }
        withExtendedLifetime(fixture) {}
    }

    @Test("a cached sequence lists nothing")
    func cacheOnly() async throws {
        // Given
        let (fixture, ann, bob) = try await scene()
        var cached = bob.notes.snapshots(policy: .cacheOnly).makeAsyncIterator()
        #expect(try await cached.next()?.isEmpty == true)
        // When the device reads one record
        _ = try await bob.notes.value(forKey: "1")
        // Then that alone is shown
        #expect(try await cached.next()?.map(\.id) == ["1"])
        for client in [ann, bob] { await client.stop() }
        withExtendedLifetime(fixture) {}
    }

    @Test("a list that has more than the disk may hold is whole")
    func limited() async throws {
        // Given
        let fixture = try ServerFixture()
        let ann = try await fixture.live()
        let text = String(repeating: "x", count: 1_000)
        for number in 0..<600 { try await ann.notes.setValue(Note(text: text), forKey: "\(number)") }
        try await within { try await ann.waitUntilDrained() }
        let bob = try await fixture.live(storage: .directory(directory.path)) {
            $0.diskLimit = 262_144
            $0.memoryLimit = 20_000
        }
        // When
        let all = try await within { try await bob.notes.all() }
        // Then
        #expect(all.count == 600 && all.allSatisfy { $0.value?.text == text })
        #expect(try await within { try await bob.notes.ids() }.count == 600)
        for client in [ann, bob] { await client.stop() }
    }

    @Test("a server that lists records of an earlier position is outdated")
    func outdated() async throws {
        // Given a server that goes on from revision 9, and lists as of 3
        let page = #"{"changes":[],"cursor":"a-9","upToDate":true}"#
        let list = #"{"records":[{"key":"notes/1","revision":2,"contentType":"application/json","size":1}],"next":null,"cursor":"a-3"}"#
        let server = ScriptedServer { connection in
            while let (head, _) = connection.request() {
                if head.contains("since=a-9"), !head.contains("wait=0") { return connection.waitUntilClosed() }
                let (body, cursor) = head.contains("/changes") ? (page, "a-9") : (list, "a-3")
                let fields = "Freshet-Cursor: \(cursor)\r\nFreshet-Last-Write: 0\r\nContent-Type: application/json\r\n"
                connection.respond(body, fields: fields)
            }
        }
        let client = try ServerFixture.client(server.url) { $0.following = .cachedRecords }
        try await client.start()
        try await within { try await client.waitUntilLive() }
        // When and then
        await #expect(throws: ClientError.outdated) { try await within { try await client.notes.ids() } }
        await client.stop()
    }
}
