import FreshetClient
import FreshetFaultProxy
import FreshetSQLite
import FreshetServer
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@Suite struct TroubleTests {
    private let directory = TemporaryDirectory()

    @Test(
        "an intermediary's answer is reported with its status, and decides no write",
        arguments: [
            "200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", "204 No Content\r\n\r\n",
            "302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n",
            "400 Bad Request\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
            "403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"message\":\"no!!\"}",
            "413 Payload Too Large\r\nContent-Length: 0\r\n\r\n", "415 Unsupported Media Type\r\nContent-Length: 0\r\n\r\n",
            "422 Unprocessable Content\r\nContent-Type: application/problem+json\r\nContent-Length: 36\r\n\r\n{\"type\":\"about:blank\",\"status\": 422}",
            "502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "511 Network Authentication Required\r\nContent-Length: 0\r\n\r\n",
        ])
    func interception(_ answer: String) async throws {
        // Given a client with a write on disk, and a network that answers for the server
        let asked = Counter()
        let portal = ScriptedServer { connection in
            while connection.request() != nil {
                _ = asked.next()
                connection.send("HTTP/1.1 \(answer)")
            }
        }
        let client = try ServerFixture.client(portal.url, storage: .directory(directory.path)) { $0.client = "till" }
        try await client.start()
        let write = try await client.notes.setValue(Note(text: "kept"), forKey: "1")
        // When it was answered several times
        let status = try await first(of: client.statuses) { $0.feedError != nil && $0.writeError != nil }
        while asked.count < 20 { await Task.yield() }
        // Then the status says so, nothing was decided, and reads fail as offline ones do
        let code = Int(answer.prefix(3))
        for case .intercepted(let found, let text)? in [status.feedError, status.writeError] { #expect(found == code && !text.isEmpty) }
        guard case .intercepted? = status.feedError, case .intercepted? = status.writeError else {
            Issue.record("\(String(describing: status.feedError)), \(String(describing: status.writeError))")
            return
        }
        if case .offline = status.connection {} else { Issue.record("\(status.connection)") }
        #expect(client.status.waitingWrites == 1 && client.notes["1"]?.isPending == true)
        #expect(try await within { try await client.notes.value(forKey: "1", policy: .networkElseCache) } == Note(text: "kept"))
        let error = await #expect(throws: ClientError.self) { try await within { try await client.notes.value(forKey: "2") } }
        if case .intercepted? = error {} else { Issue.record("\(String(describing: error))") }
        await client.stop()
        await #expect(throws: ClientError.stopped) { try await write.outcome() }
        // When the device is in the server's network again
        let fixture = try ServerFixture()
        let later = try fixture.client(storage: .directory(directory.path)) { $0.client = "till" }
        try await later.start()
        try await within { try await later.waitUntilDrained() }
        // Then the write is there
        let other = try await fixture.live()
        #expect(try await other.notes.value(forKey: "1") == Note(text: "kept"))
        await later.stop()
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nFreshet-Cursor: e1-1\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nFreshet-Cursor: nonsense\r\nContent-Length: 2\r\n\r\n{}", "garbage\r\n\r\n",
    ])
    func aServerThatAnswersGarbageIsCalledThat(_ answer: String) async throws {
        // Given something else that listens on the port
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.send(answer) }
        }
        let client = try ServerFixture.client(server.url)
        try await client.start()
        // When the client writes
        let write = try await client.notes.setValue(Note(text: "kept"), forKey: "1")
        // Then it says what is wrong, and keeps the write
        let status = try await first(of: client.statuses) { $0.feedError != nil }
        guard case .unexpectedResponse(let text)? = status.feedError else {
            Issue.record("got \(String(describing: status.feedError))")
            return
        }
        #expect(!text.isEmpty)
        #expect(client.notes["1"]?.value == Note(text: "kept") && client.notes["1"]?.isPending == true)
        #expect(client.status.waitingWrites == 1)
        await #expect(throws: ClientError.self) { try await within { try await client.notes.value(forKey: "2", policy: .networkOnly) } }
        await client.stop()
        await #expect(throws: ClientError.stopped) { try await write.outcome() }
    }

    @Test func noServerIsUnreachableAndTheCacheStillServes() async throws {
        let fixture = try ServerFixture()
        let client = try await fixture.live(throughProxy: true)
        _ = try await within { try await client.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        fixture.proxy.refuse()
        try await client.offline()
        let status = try await first(of: client.statuses) { $0.feedError != nil }
        guard case .unreachable? = status.feedError else {
            Issue.record("got \(String(describing: status.feedError))")
            return
        }
        let cached = try await client.notes.snapshot(forKey: "1", policy: .networkElseCache)
        #expect(cached.value == Note(text: "a"))
        if case .confirmed? = cached.freshness {} else { Issue.record("got \(String(describing: cached.freshness))") }
        await #expect(throws: ClientError.self) { try await within { try await client.notes.value(forKey: "1", policy: .networkOnly) } }
    }

    @Test func aFullDiskRefusesTheWriteAndLosesNothing() async throws {
        // Given a client whose file may not grow further than 64 KiB
        let fixture = try ServerFixture()
        let client = try fixture.client(storage: .directory(directory.path)) { $0.fileLimit = 65_536 }
        try await client.start()
        _ = try await within { try await client.notes.setValue(Note(text: "small"), forKey: "1").waitUntilConfirmed() }
        // When a write comes that does not fit
        let large = Note(text: String(repeating: "x", count: 100_000))
        let error = await #expect(throws: ClientError.self) { try await client.notes.setValue(large, forKey: "2") }
        #expect(error == .diskFull(path: directory.path))
        #expect(error?.description.ranges(of: directory.path).count == 1, "the path is named once")
        // Then it is neither shown nor sent, the earlier record is shown, and small writes go on
        #expect(client.notes["2"]?.exists != true)
        #expect(client.notes["1"]?.value == Note(text: "small"))
        _ = try await within { try await client.notes.setValue(Note(text: "next"), forKey: "3").waitUntilConfirmed() }
        let other = try await fixture.live()
        #expect(try await other.notes.ids() == ["1", "3"])
        await client.stop()
    }

    @Test func aDamagedFileIsMovedAsideWithALoudError() async throws {
        let fixture = try ServerFixture()
        directory.write([UInt8](repeating: 0x5A, count: 4_096), to: "freshet.sqlite")
        let client = try fixture.client(storage: .directory(directory.path))
        let error = await #expect(throws: ClientError.self) { try await client.start() }
        guard case .corrupt(_, let quarantine)? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
        #expect(directory.files.contains { quarantine.hasSuffix($0) })
        try await client.start()
        try await within { try await client.waitUntilLive() }
        await client.stop()
    }

    @Test("a file whose outbox is damaged is moved aside, and the next call begins with an empty one", arguments: [false, true])
    func damagedOutbox(clears: Bool) async throws {
        // Given a stopped client with waiting writes, one of which cannot be read any more
        let client = try ServerFixture.client("http://127.0.0.1:1", storage: .directory(directory.path))
        let call: @Sendable () async throws -> Void = {
            if clears { try await client.clear(keepingOutbox: true) } else { try await client.start() }
        }
        try await client.start()
        for id in ["1", "2"] { try await client.notes.setValue(Note(text: "kept"), forKey: id) }
        await client.stop()
        let path = directory.file("freshet.sqlite")
        do {
            let connection = try Connection(path: path)
            try connection.execute("UPDATE outbox SET row = x'00' WHERE receipt = (SELECT min(receipt) FROM outbox)")
        }
        // When
        let error = await #expect(throws: ClientError.self) { try await call() }
        // Then the file is under the name in the error
        guard case .corrupt(path, let quarantine)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(quarantine != path && directory.files.contains { directory.file($0) == quarantine })
        // And the next call succeeds
        try await call()
        try await client.start()
        #expect(client.status.waitingWrites == 0)
        await client.stop()
    }

    @Test func aNewerSchemaIsRefusedAndLeftAlone() async throws {
        let fixture = try ServerFixture()
        let client = try fixture.client(storage: .directory(directory.path))
        try await client.start()
        await client.stop()
        do {
            let connection = try Connection(path: directory.file("freshet.sqlite"))
            try connection.setUserVersion(1_000)
        }
        let error = await #expect(throws: ClientError.self) { try await client.start() }
        #expect(error == .newerSchema(path: directory.file("freshet.sqlite"), found: 1_000, supported: 5))
    }

    @Test func twoClientsOnOneDirectoryDoNoHarm() async throws {
        let fixture = try ServerFixture()
        let holder = try await fixture.live(storage: .directory(directory.path))
        let second = try fixture.client(storage: .directory(directory.path))
        let error = await #expect(throws: ClientError.self) { try await second.start() }
        guard case .directoryInUse? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
        _ = try await within { try await holder.notes.setValue(Note(text: "a"), forKey: "1").waitUntilConfirmed() }
        await holder.stop()
        try await second.start()
        #expect(try await second.notes.value(forKey: "1", policy: .cacheOnly) == Note(text: "a"))
        await second.stop()
    }

    // MARK: Settings and names

    @Test func settingsThatCannotWorkAreRefused() {
        let changes: [@Sendable (inout SyncClient.Configuration) -> Void] = [
            { $0.url = "127.0.0.1:80" }, { $0.url = "http://" }, { $0.url = "ftp://x" }, { $0.url = "http://x/?y" },
            { $0.url = "http://x/v1" }, { $0.url = "https://x/sync/v1/shop" },
            { $0.hold = .milliseconds(1_500) }, { $0.hold = .seconds(61) }, { $0.grace = .zero }, { $0.longestDelay = .milliseconds(1) },
            { $0.storage = .directory("") }, { $0.fileLimit = 1 }, { $0.memoryLimit = -1 }, { $0.responseLimit = 0 },
            { $0.client = "till" },
        ]
        for (index, change) in changes.enumerated() {
            let error = #expect(throws: ClientError.self, "change \(index)") { try ServerFixture.client("http://127.0.0.1:1", change) }
            guard case .invalidConfiguration? = error else {
                Issue.record("change \(index): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func namesThatCannotBeAreRefused() {
        let changes: [@Sendable (inout SyncClient.Configuration) -> Void] = [
            { $0.namespace = "Test" }, { $0.client = "a b" }, { $0.collections = ["a/b"] },
        ]
        for (index, change) in changes.enumerated() {
            let error = #expect(throws: ClientError.self, "change \(index)") { try ServerFixture.client("http://127.0.0.1:1", change) }
            guard case .invalidName? = error else {
                Issue.record("change \(index): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func callsThatCannotBeDoneAreRefused() async throws {
        let client = try ServerFixture.client("http://127.0.0.1:1")
        await #expect(throws: ClientError.stopped) { try await client.notes.value(forKey: "1") }
        try await client.start()
        await #expect(throws: ClientError.self) { try await client.notes.setValue(Note(text: ""), forKey: "") }
        await #expect(throws: ClientError.self) { try await client.collection("a/b", of: Note.self).ids() }
        await #expect(throws: ClientError.self) { try await client.notes.increment("votes", of: "1") }
        await #expect(throws: ClientError.self) { try await client.notes.merge(json: Array("{".utf8), into: "1") }
        await #expect(throws: ClientError.self) { try await client.collection("d", of: Double.self).setValue(.infinity, forKey: "1") }
        await #expect(throws: ClientError.self) { try await client.notes.increment("/votes", by: .nan, of: "1") }
        #expect(client.notes[""] == nil)
        #expect(client.status.waitingWrites == 0)
        await client.stop()
    }

    @Test("writes beyond a quota of the namespace are kept, the status says why, and deletes behind them make room")
    func quota() async throws {
        // Given a namespace that may have one record
        var configuration = RecordServerConfiguration()
        configuration.quotas.namespace.records = 1
        let fixture = try ServerFixture(configuration)
        let client = try await fixture.live()
        _ = try await within { try await client.notes.setValue(Note(text: "first"), forKey: "1").waitUntilConfirmed() }
        // When
        let second = try await client.notes.setValue(Note(text: "second"), forKey: "2")
        let status = try await first(of: client.statuses) { $0.writeError != nil }
        // Then
        guard case .refused(let problem)? = status.writeError else {
            Issue.record("\(String(describing: status.writeError))")
            return
        }
        #expect(problem.code == .quotaExceeded && problem.detail.contains("quotas.namespace.records"))
        #expect(status.waitingWrites == 1 && client.notes["2"]?.isPending == true && client.status.rejectedWrites == 0)
        // When the user deletes the other record
        _ = try await client.notes.removeValue(forKey: "1")
        // Then both writes are confirmed
        _ = try await within { try await second.waitUntilConfirmed() }
        try await within { try await client.waitUntilDrained() }
        #expect(client.status.writeError == nil)
        let other = try await fixture.live()
        #expect(try await other.notes.value(forKey: "2") == Note(text: "second"))
        #expect(try await other.notes.value(forKey: "1") == nil)
        await client.stop()
    }
}
