import FoundationEssentials
import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

/// A device whose token is replaced by others with other rights, over a real server.
@Suite("Rights of a device") struct RightsTests {
    private let directory = TemporaryDirectory()

    private final class World: Sendable {
        let fixture: ServerFixture
        let tokens: [String]
        let present = Mutex(0)

        /// Keys with these grants.
        init(in directory: TemporaryDirectory, _ grants: [String]) throws {
            let path = directory.file("data")
            tokens = try grants.map { grants in
                let request = Array(#"{"name":"a key","allow":\#(grants)}"#.utf8)
                return try OfflineKeys.make(inDirectory: path, request: request, now: 0).token
            }
            var configuration = RecordServerConfiguration(directory: path)
            configuration.requiresKeys = true
            fixture = try ServerFixture(configuration)
        }

        func client(
            at path: String, throughProxy: Bool = false, _ change: (inout SyncClient.Configuration) -> Void = { _ in }
        ) throws -> SyncClient {
            try fixture.client(throughProxy: throughProxy, storage: .directory(path)) { configuration in
                configuration.token = { _ in self.tokens[self.present.withLock { $0 }] }
                configuration.hold = .seconds(1)
                change(&configuration)
            }
        }

        func use(_ place: Int, _ client: SyncClient) {
            present.withLock { $0 = place }
            client.networkChanged()
        }
    }

    private static let all = #"[{"ns":"test","in":["*"],"may":["read","write","create"]}]"#
    private static let part = #"[{"ns":"test","in":["notes/a*"],"may":["read","write"]}]"#
    private static let elsewhere = #"[{"ns":"other","in":["*"],"may":["read"]}]"#

    private func holds(_ text: String) throws -> Bool {
        let path = directory.file("device")
        return try FileManager.default.contentsOfDirectory(atPath: path).contains { name in
            String(decoding: Array(try Data(contentsOf: URL(filePath: path + "/" + name))), as: UTF8.self).contains(text)
        }
    }

    private func ids(_ client: SyncClient) async throws -> [String] { try await client.notes.ids(policy: .cacheOnly) }

    @Test(
        "narrowed, withdrawn and restored: the device holds what it may read, its status says so, and no write is lost",
        .timeLimit(.minutes(5)))
    func course() async throws {
        // Given a device that may read everything
        let world = try World(in: directory, [Self.all, Self.part, Self.elsewhere])
        // No write is in flight when the token is replaced: the outcome of one that was would wait for its principal, by decision 0053.
        let client = try world.client(at: directory.file("device")) { $0.longestDelay = .seconds(300) }
        try await client.start()
        for id in ["a1", "b1"] {
            _ = try await within { try await client.notes.setValue(Note(text: "secret-\(id)"), forKey: id).waitUntilConfirmed() }
        }
        let full = try await first(of: client.statuses, "rights") { $0.rights?.read == ["*"] && $0.isLive }
        #expect(full.rights?.write == ["*"] && full.rights?.create == ["*"] && full.rights?.principal?.hasPrefix("key:") == true)
        #expect("\(full)".contains("may read *, write *"))
        // When its token is replaced by one for a part
        world.use(1, client)
        // Then the rest leaves it
        let narrowed = try await first(of: client.statuses, "part") { $0.rights?.read == ["notes/a*"] && $0.isLive && $0.isVerified }
        #expect(narrowed.rights?.create == [] && client.notes["b1"] == nil)
        #expect(try await ids(client) == ["a1"])
        // When it writes outside of the part
        let forbidden = try await client.notes.setValue(Note(text: "no"), forKey: "b2")
        let allowed = try await client.notes.setValue(Note(text: "yes"), forKey: "a2")
        // Then the write is rejected, and the next is not held up
        await #expect { _ = try await within { try await forbidden.waitUntilConfirmed() } } throws: { error in
            guard case .rejected(let problem)? = error as? ClientError else { return false }
            return problem.code == .forbidden && problem.needs?.may == "write" && problem.needs?.of == "test:notes/b2"
        }
        _ = try await within { try await allowed.waitUntilConfirmed() }
        let rejected = try await client.rejections.all()
        #expect(rejected.map(\.problem.code) == [.forbidden] && rejected.first?.key.description == "notes/b2")
        #expect(client.status.rejectedWrites == 1 && client.notes["b2"]?.exists != true)
        // When its token may read nothing
        world.use(2, client)
        _ = try await first(of: client.statuses, "forbidden") { if case .forbidden = $0.connection { true } else { false } }
        // Then nothing is left in memory, on disk or in a file, and writes wait
        #expect(client.notes["a1"] == nil)
        #expect(try await ids(client) == [])
        #expect(try !holds("secret-"))
        try await client.notes.setValue(Note(text: "later"), forKey: "a3")
        let refused = try await first(of: client.statuses, "refused") { $0.writeError != nil && $0.rights?.read == [] }
        #expect(refused.waitingWrites == 1 && "\(refused)".contains("forbidden since") && "\(refused)".contains("may none"))
        // When the first token is back
        world.use(0, client)
        // Then so are the records, and the write is made
        try await within { try await client.waitUntilDrained() }
        try await within { try await client.waitUntilLive() }
        _ = try await first(of: client.statuses, "rights") { $0.rights?.read == ["*"] }
        #expect(try await ids(client) == ["a1", "a2", "a3", "b1"])
        await client.stop()
        #expect(client.status.rights == nil)
        await world.fixture.server.stop()
    }

    @Test("withdrawn and restored: a device that holds a part of a collection shows its observer the list again", .timeLimit(.minutes(5)))
    func partialDevice() async throws {
        // Given a device that keeps what it reads, and an observer that was shown a collection
        let world = try World(in: directory, [Self.all, Self.elsewhere])
        let ann = try world.client(at: directory.file("other"))
        try await ann.start()
        for id in ["a1", "b1"] { _ = try await within { try await ann.notes.setValue(Note(text: id), forKey: id).waitUntilConfirmed() } }
        let client = try world.client(at: directory.file("device")) { $0.following = .cachedRecords }
        try await client.start()
        var lists = client.notes.snapshots().makeAsyncIterator()
        while let list = try await lists.next(), list.count < 2 {}
        // When the right is withdrawn, and is back
        world.use(1, client)
        _ = try await first(of: client.statuses, "none") { if case .forbidden = $0.connection { true } else { false } }
        #expect(try await ids(client) == [])
        world.use(0, client)
        // Then the observer is shown the collection again
        var shown: [String]? = []
        while shown?.count ?? 2 < 2 { shown = try await lists.next()?.map(\.id) }
        #expect(shown == ["a1", "b1"])
        for client in [ann, client] { await client.stop() }
        await world.fixture.server.stop()
    }

    @Test("narrowed: rejected writes stay, without records that the device may not read any more", .timeLimit(.minutes(5)))
    func rejections() async throws {
        // Given a device that may read everything, and whose writes met other ones
        let world = try World(in: directory, [Self.all, Self.part])
        let ann = try world.client(at: directory.file("other"))
        try await ann.start()
        let client = try world.client(at: directory.file("device"), throughProxy: true)
        try await client.start()
        for id in ["a1", "b1"] { _ = try await within { try await ann.notes.setValue(Note(text: "0"), forKey: id).waitUntilConfirmed() } }
        for id in ["a1", "b1"] { _ = try await first(of: client.notes.snapshots(forKey: id)) { $0.exists } }
        world.fixture.proxy.refuse()
        try await client.offline()
        for id in ["a1", "b1"] {
            _ = try await within { try await ann.notes.setValue(Note(text: "secret-\(id)"), forKey: id).waitUntilConfirmed() }
            try await client.notes.setValue(Note(text: "mine-\(id)"), forKey: id, onConflict: .rejectIfChanged)
        }
        world.fixture.proxy.acceptAgain()
        try await within { try await client.waitUntilDrained() }
        #expect(try await client.rejections.all().allSatisfy { $0.problem.current != nil } && client.status.rejectedWrites == 2)
        // When its token is replaced by one for a part
        world.use(1, client)
        _ = try await first(of: client.statuses, "part") { $0.rights?.read == ["notes/a*"] && $0.isLive && $0.isVerified }
        // Then both writes wait for their user, and the record of one has left the device
        let left = try await first(of: client.rejections) { $0.contains { $0.problem.current == nil } }
        #expect(left.map(\.key.description) == ["notes/a1", "notes/b1"])
        #expect(left.map { $0.problem.current != nil } == [true, false])
        #expect(try left.map { try client.notes.value(of: $0)?.text } == ["mine-a1", "mine-b1"])
        #expect(try !holds("secret-b1"))
        await client.stop()
        await ann.stop()
        await world.fixture.server.stop()
    }

    @Test("withdrawn: none of fifty values that the device has written and read is left in its files", .timeLimit(.minutes(5)))
    func files() async throws {
        // Given
        let world = try World(in: directory, [Self.all, Self.elsewhere])
        let client = try world.client(at: directory.file("device")) { $0.longestDelay = .seconds(300) }
        try await client.start()
        let values = (1...50).map { "secret-\($0)-\(String(repeating: "x", count: $0 * 17))" }
        for (place, value) in values.enumerated() { try await client.notes.setValue(Note(text: value), forKey: "\(place % 20)") }
        try await within { try await client.waitUntilDrained() }
        try await within { try await client.waitUntilLive() }
        #expect(try holds("secret-"))
        // When
        world.use(1, client)
        _ = try await first(of: client.statuses, "forbidden") { if case .forbidden = $0.connection { true } else { false } }
        // Then
        #expect(try await ids(client) == [])
        #expect(try !holds("secret-"))
        await client.stop()
        #expect(try !holds("secret-"))
        await world.fixture.server.stop()
    }

    @Test(
        "a device that may write and not read: its values and deletes are stored, and a write that would show a record is rejected",
        .timeLimit(.minutes(5)))
    func uploads() async throws {
        // Given a record of another device
        let world = try World(in: directory, [Self.all, #"[{"ns":"test","in":["notes"],"may":["write"]}]"#])
        let ann = try world.client(at: directory.file("other"))
        try await ann.start()
        _ = try await within { try await ann.notes.setValue(Note(text: "0"), forKey: "a1").waitUntilConfirmed() }
        world.present.withLock { $0 = 1 }
        let device = try world.fixture.client(storage: .directory(directory.file("device"))) { configuration in
            configuration.token = { _ in world.tokens[1] }
            configuration.hold = .seconds(1)
        }
        try await device.start()
        // When
        for id in ["a1", "b1", "c1"] {
            _ = try await within { try await device.notes.setValue(Note(text: "1"), forKey: id).waitUntilConfirmed() }
        }
        for id in ["b1", "d1"] { _ = try await within { try await device.notes.removeValue(forKey: id).waitUntilConfirmed() } }
        var refused: [PendingWrite] = []
        refused.append(try await device.notes.increment("/n", by: 1, of: "n"))
        refused.append(try await device.notes.merge(json: Array(#"{"text":"2"}"#.utf8), into: "a1"))
        // Then
        for write in refused {
            await #expect { _ = try await within { try await write.waitUntilConfirmed() } } throws: { error in
                guard case .rejected(let problem)? = error as? ClientError else { return false }
                return problem.code == .forbidden && problem.needs?.may == "read"
            }
        }
        // A condition on a record that the device does not know cannot be stated
        await #expect { try await device.notes.setValue(Note(text: "3"), forKey: "e1", onConflict: .rejectIfChanged) } throws: {
            ($0 as? ClientError) != nil
        }
        try await within { try await device.waitUntilDrained() }
        #expect(device.status.rejectedWrites == 2 && device.status.waitingWrites == 0)
        // And the other device has these records
        world.use(0, ann)
        _ = try await first(of: ann.notes.snapshots(), "the records") { list in
            list.map(\.id) == ["a1", "c1"] && list.allSatisfy { $0.value?.text == "1" }
        }
        for client in [ann, device] { await client.stop() }
        await world.fixture.server.stop()
    }

    @Test("a proxy's 403 erases nothing", .timeLimit(.minutes(5)))
    func proxy() async throws {
        // Given a device with a record
        let fixture = try ServerFixture()
        let path = directory.file("device")
        let client = try await fixture.live(storage: .directory(path))
        _ = try await within { try await client.notes.setValue(Note(text: "kept"), forKey: "1").waitUntilConfirmed() }
        await client.stop()
        // When something that is not its store refuses everything, with a page or in Freshet's form
        let needs =
            #"{"type":"urn:freshet:problem:forbidden","title":"Forbidden","status":403,"detail":"no","needs":{"may":"read","of":"test:*"}}"#
        for (type, body) in [
            ("text/html", "Forbidden"), ("application/problem+json", #"{"status":403}"#), ("application/problem+json", needs),
        ] {
            let seen = Mutex(0)
            let proxy = ScriptedServer { connection in
                while connection.request() != nil {
                    seen.withLock { $0 += 1 }
                    connection.respond(body, status: "403 Forbidden", fields: "Content-Type: \(type)\r\n")
                }
            }
            let other = try ServerFixture.client(proxy.url, storage: .directory(path))
            try await other.start()
            let status = try await first(of: other.statuses, "refused") { $0.feedError != nil }
            // Then the record stays
            if case .offline = status.connection {} else { Issue.record("\(status)") }
            #expect(try await other.notes.value(forKey: "1", policy: .cacheOnly)?.text == "kept" && seen.withLock { $0 } > 0)
            await other.stop()
        }
        await fixture.server.stop()
    }
}
