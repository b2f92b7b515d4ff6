import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("The last use of a key", .overBothStores) struct KeyUseTests {
    private let clock = TestClock()
    private static let day: Int64 = 86_400_000

    private var today: Int64 { clock.wall / Self.day * Self.day }

    @Test("it is stored once for each key and day")
    func onceADay() throws {
        // Given two keys, of which one is used
        let holders = KeyHolders(environment: clock.environment)
        let namespace = try Namespace("shop")
        let (used, access) = try holders.access(in: namespace)
        _ = holders.control.takeUnstoredUses()
        let state = NamespaceState(epoch: try #require(Epoch("a")), head: .maximum, forgotten: .zero, records: 0, bytes: 0)
        func use() -> [AccessRow] {
            for _ in 1...100 { #expect(access.problem(in: state) == nil) }
            return holders.control.takeUnstoredUses()
        }
        // When, then: on the day of the first use
        #expect(use().isEmpty && holders.control.key(used)?.lastUsed == today / Self.day)
        // When its connection stays open until another day
        clock.advance(Self.day)
        holders.control.noteTime()
        // Then
        let rows = use()
        #expect(rows.map(\.kind) == [.use] && rows.map(\.name) == [used.text])
        #expect(use().isEmpty && holders.control.key(used)?.lastUsed == today / Self.day)
        // When the clock is set back
        clock.advance(-3 * Self.day)
        holders.control.noteTime()
        // Then
        #expect(use().isEmpty)
    }

    @Test("it is shown, on disk when the server has stopped, and removed with the key")
    func onDisk() async throws {
        // Given
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        let made = try ["first", "second"].map { name in
            try OfflineKeys.make(inDirectory: path, request: Array(#"{"name":"\#(name)","admin":true}"#.utf8), now: 0)
        }
        var configuration = RecordServerConfiguration(directory: path)
        configuration.requiresKeys = true
        func list(_ server: TestServer, by place: Int) async throws -> String {
            let reply = try await server.request("GET", "/admin/keys", [("Authorization", "Bearer \(made[place].token)")])
            return String(decoding: reply.body, as: UTF8.self)
        }
        // When
        let before = try await TestServer.with(configuration, environment: clock.environment) { try await list($0, by: 0) }
        // Then
        #expect(before.contains(#""lastUsed":\#(today)}"#) && before.contains(#""lastUsed":null}"#))
        // When the other key reads it, on another day
        let first = today
        clock.advance(5 * Self.day)
        try await TestServer.with(configuration, environment: clock.environment) { server in
            let after = try await list(server, by: 1)
            // Then
            #expect(after.contains(#""lastUsed":\#(first)}"#) && after.contains(#""lastUsed":\#(today)}"#))
            let revoked = try await server.request(
                "DELETE", "/admin/keys/\(made[0].id)", [("Authorization", "Bearer \(made[1].token)")])
            #expect(revoked.status == 200)
        }
        let store = try SQLiteRecordStore(directory: path, seed: 1)
        #expect(try store.accessRows().map(\.name) == [made[1].id, made[1].id])
    }

    @Test(
        "a row that cannot be read has no effect", arguments: [#"{"day":9223372036854775807}"#, #"{"day":-1}"#, "{}", "[", #"{"day":"x"}"#])
    func damagedRow(_ text: String) throws {
        // Given
        var random = SystemRandomNumberGenerator()
        let stored = StoredKey(AccessKey(using: &random), name: "a", rights: .all, created: 0)
        let row = AccessRow(.use, name: stored.id.text, value: Array(text.utf8))
        // When
        let control = AccessControl(rows: [row, stored.row, AccessRow(.use, name: "none", value: [])], environment: clock.environment)
        // Then
        #expect(control.key(stored.id) != nil && control.key(stored.id)?.lastUsed == nil)
    }
}
