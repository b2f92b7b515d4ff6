import Foundation
import FreshetClient
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("A restored server")
struct RestoreTests {
    private struct Note: Codable, Hashable {
        var text: String
    }

    private let folder = TemporaryDirectory()

    private func server(_ data: String, port: Int, isRestored: Bool = false) throws -> RecordServer {
        var configuration = RecordServerConfiguration(directory: "\(folder.path)/\(data)")
        configuration.port = port
        configuration.isRestored = isRestored
        return try RecordServer.running(configuration)
    }

    @Test("after a drop and the restore of a backup, each write of a device takes effect once", .timeLimit(.minutes(5)))
    func dropThenRestore() async throws {
        // Given a backup that has five writes of a device
        var server = try server("live", port: try await FreePort.shared.next())
        let port = try #require(server.address?.port)
        var configuration = SyncClient.Configuration(url: server.url, namespace: "shop", storage: .directory("\(folder.path)/device"))
        configuration.following = .cachedRecords
        configuration.client = "till"
        configuration.firstDelay = .milliseconds(10)
        configuration.longestDelay = .milliseconds(100)
        let device = try SyncClient(configuration)
        try await device.start()
        let notes = device.collection("notes", of: Note.self)
        for number in 1...5 { _ = try await notes.setValue(Note(text: "\(number)"), forKey: "\(number)").waitUntilConfirmed() }
        await server.stop()
        try FileManager.default.copyItem(atPath: "\(folder.path)/live", toPath: "\(folder.path)/backup")
        // When the namespace is dropped, and has one more write
        server = try self.server("live", port: port)
        #expect(try await curl(["-X", "DELETE", "\(server.url)/v1/shop"]).status == 200)
        _ = try await notes.setValue(Note(text: "6"), forKey: "6").waitUntilConfirmed()
        #expect(try await curl(["\(server.url)/v1/shop/clients/till"]).body == #"{"client":"till","last":6}"#)
        await server.stop()
        // And the backup is restored while more writes wait
        let waiting = [try await notes.setValue(Note(text: "7"), forKey: "7"), try await notes.setValue(Note(text: "8"), forKey: "1")]
        server = try self.server("backup", port: port, isRestored: true)
        // Then those get their own verdicts, at revisions that no earlier write had
        var revisions: [Int64] = []
        for write in waiting { revisions.append(try await write.waitUntilConfirmed()?.number ?? 0) }
        #expect(revisions == [6, 7])
        for (id, text) in [("7", "7"), ("1", "8"), ("5", "5")] {
            #expect(try await curl(["\(server.url)/v1/shop/records/notes/\(id)"]).body == #"{"text":"\#(text)"}"#)
        }
        #expect(try await curl(["\(server.url)/v1/shop/clients/till"]).body == #"{"client":"till","last":8}"#)
        await device.stop()
        await server.stop()
    }
}
