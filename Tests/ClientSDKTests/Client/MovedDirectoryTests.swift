import FreshetClient
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@Suite("A client's directory that is moved or deleted while the client runs") struct MovedDirectoryTests {
    private let folder = TemporaryDirectory()
    private var path: String { folder.file("device") }

    private func offline() throws -> SyncClient {
        try SyncClient(url: "http://127.0.0.1:9", namespace: "test", storage: .directory(path))
    }

    private func write(_ id: String, by client: SyncClient) async throws {
        _ = try await client.rawCollection("notes").setValue(Content(json: Array("1".utf8)), forKey: id)
    }

    /// - Parameter names: the files that are deleted; empty renames the directory.
    @Test(
        "no write is accepted any more, and those from before are where the files are",
        arguments: [[], ["freshet.lock"], ["freshet.sqlite-wal"]])
    func moved(names: [String]) async throws {
        // Given a device with two writes that wait
        let client = try offline()
        try await client.start()
        for id in ["1", "2"] { try await write(id, by: client) }
        // When
        if names.isEmpty { #expect(rename(path, path + ".old") == 0) }
        for name in names { #expect(unlink(path + "/" + name) == 0) }
        // Then
        for id in ["3", "4"] {
            let error = await #expect(throws: ClientError.self) { try await write(id, by: client) }
            guard case .storageFailed(path, let text)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
            #expect(text.contains("moved, replaced or deleted") && text.contains("start again"))
        }
        #expect(client.status.waitingWrites == 2)
        // And a second client may start on the path meanwhile, with a separate file
        if names.isEmpty {
            let second = try offline()
            try await second.start()
            try await write("1", by: second)
            #expect(second.status.waitingWrites == 1)
            await second.stop()
        }
        await client.stop()
        // And after the next start the device has what it accepted
        if names.isEmpty { #expect(rename(path, path + ".new") == 0 && rename(path + ".old", path) == 0) }
        try await client.start()
        #expect(client.status.waitingWrites == 2)
        try await write("3", by: client)
        #expect(client.status.waitingWrites == 3)
        await client.stop()
    }

    @Test("a device whose directory was deleted begins with an empty one after a stop and a start")
    func deleted() async throws {
        let client = try offline()
        try await client.start()
        try await write("1", by: client)
        folder.remove("device")
        await #expect(throws: ClientError.self) { try await write("2", by: client) }
        await client.stop()
        try await client.start()
        #expect(client.status.waitingWrites == 0)
        try await write("3", by: client)
        await client.stop()
        try await client.start()
        #expect(client.status.waitingWrites == 1)
        await client.stop()
    }
}
