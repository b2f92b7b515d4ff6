import FreshetClient
import FreshetServer
import FreshetTestSupport
import Testing

/// A device whose disk fails: clear errors, and no write that was accepted is lost.
@Suite("A device's disk")
struct DeviceDiskTests {
    @Test("when it is full, a write fails with what to do, and all accepted ones arrive", .enabled(if: SmallDisk.isAvailable))
    func full() async throws {
        try await SmallDisk.with(kibibytes: 2_000) { disk in
            // Given a device on a small disk that cannot reach its server
            let port = try await FreePort.shared.next()
            var configuration = SyncClient.Configuration(
                url: "http://127.0.0.1:\(port)", namespace: "disk", storage: .directory("\(disk.path)/device"))
            configuration.following = .cachedRecords
            configuration.firstDelay = .milliseconds(5)
            configuration.longestDelay = .milliseconds(50)
            let client = try SyncClient(configuration)
            try await client.start()
            let notes = client.collection("notes", of: String.self)
            // When it writes until its disk is full
            var accepted: [String] = []
            var failure: ClientError?
            for id in 0..<100 where failure == nil {
                do throws(any Error) {
                    try await notes.setValue(String(repeating: "x", count: 60_000), forKey: "\(id)")
                    accepted.append("\(id)")
                } catch let error as ClientError { failure = error }
            }
            // Then the write that found no room fails with the reason, and is not shown
            let error = try #require(failure)
            guard case .diskFull = error else {
                Issue.record("expected diskFull, got \(error)")
                return
            }
            #expect(accepted.count > 3)
            #expect(notes["\(accepted.count)"]?.exists != true)
            // And once the server is reachable and the disk has room, all accepted writes arrive
            try await disk.grow(to: 20_000)
            var server = RecordServerConfiguration()
            server.port = port
            let running = try RecordServer.running(server)
            try await client.waitUntilDrained()
            for id in accepted { #expect(try await curl(["\(running.url)/v1/disk/records/notes/\(id)"]).status == 200) }
            await client.stop()
            await running.stop()
        }
    }
}
