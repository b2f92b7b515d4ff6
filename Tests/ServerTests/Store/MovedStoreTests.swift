import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@testable import FreshetServer

@Suite("A data directory that is moved, replaced or deleted while the server runs", .timeLimit(.minutes(5))) struct MovedStoreTests {
    enum Incident: CaseIterable {
        case moved, emptied, databaseReplaced, logDeleted, lockDeleted

        func happen(to directory: TemporaryDirectory) {
            func delete(_ name: String) { #expect(unlink(directory.file("data/\(name)")) == 0) }
            switch self {
            case .moved: #expect(rename(directory.file("data"), directory.file("old")) == 0)
            case .emptied: for name in ["freshet.db", "freshet.db-wal", "freshet.db-shm", "freshet.lock"] { delete(name) }
            case .databaseReplaced:
                directory.write([], to: "new")
                #expect(rename(directory.file("new"), directory.file("data/freshet.db")) == 0)
            case .logDeleted: delete("freshet.db-wal")
            case .lockDeleted: delete("freshet.lock")
            }
        }
    }

    private let directory = TemporaryDirectory()
    private static let apple = "/v1/shop/records/fruits/apple"
    private var configuration: RecordServerConfiguration { RecordServerConfiguration(directory: directory.file("data")) }

    private func check(_ reply: Reply, _ code: ProblemCode = .storageFailed) {
        #expect(reply.status == code.status && reply.problem?.code == code, "\(reply.text)")
        #expect(
            reply.problem?.detail.contains("moved, replaced or deleted") == true
                && reply.problem?.detail.contains("start the server again") == true)
    }

    @Test("nothing is acknowledged from then on, and nothing is read", arguments: Incident.allCases)
    func refused(incident: Incident) async throws {
        try await TestServer.with(configuration) { server in
            // Given
            let cursor = try await server.put(Self.apple, "1").cursor
            // When
            incident.happen(to: directory)
            // Then writes are refused, numbered ones and those of keys too
            check(try await server.request("PUT", Self.apple, TestServer.json, "2"))
            let batch = #"{"client":"a","writes":[{"number":1,"op":"put","key":"fruits/apple","value":3}]}"#
            check(try await server.request("POST", "/v1/shop/writes", TestServer.json, batch))
            check(try await server.request("DELETE", "/v1/shop"))
            // And reads, of the store and of changes in memory
            for target in [
                Self.apple, "/v1/shop", "/v1/shop/records/fruits", "/v1/shop/changes?since=0", "/v1/shop/changes?since=\(cursor)&wait=60",
            ] {
                check(try await server.request("GET", target))
            }
            // And it says so wherever it is asked
            let ready = try await server.request("GET", "/readyz")
            #expect(ready.status == 503 && ready.text.contains("moved, replaced or deleted"))
            #expect(try await server.request("GET", "/metrics").text.contains("\nfreshet_data_usable 0\n"))
        }
    }

    @Test("readers learn of it also while nothing is written, and waits end")
    func idle() async throws {
        try await TestServer.with(configuration) { server in
            // Given a poll that waits
            let cursor = try await server.put(Self.apple, "1").cursor
            async let poll = server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When
            Incident.moved.happen(to: directory)
            // Then, with no write
            check(try await poll)
            check(try await server.request("GET", Self.apple))
        }
    }

    @Test("a server whose directory is put back needs a restart, and has everything that it acknowledged")
    func putBack() async throws {
        try await TestServer.with(configuration) { server in
            try await server.put(Self.apple, "1")
            Incident.moved.happen(to: directory)
            check(try await server.request("PUT", Self.apple, TestServer.json, "2"))
            // When it is back
            #expect(rename(directory.file("old"), directory.file("data")) == 0)
            // Then
            check(try await server.request("PUT", Self.apple, TestServer.json, "3"))
        }
        // And after a restart
        try await TestServer.with(configuration) { server in
            #expect(try await server.request("GET", Self.apple).text == "1")
            try await server.put(Self.apple, "4")
        }
    }

    @Test("a commit during which it happens has an unknown outcome")
    func during() throws {
        let store = try SQLiteRecordStore(directory: directory.file("data"), seed: 1)
        let key = try RecordKey("fruits/apple")
        let namespace = try Namespace("shop")
        let directory = directory
        let failure = #expect(throws: StoreError.self) {
            try store.transaction { _ in Incident.moved.happen(to: directory) }
        }
        guard case .outcomeUnknown? = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(throws: StoreError.moved(path: directory.file("data/freshet.db"))) { try store.record(key, in: namespace) }
        #expect(throws: StoreError.moved(path: directory.file("data/freshet.db"))) { try store.transaction { _ in } }
    }
}
