import Foundation
import FreshetClient
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@Suite("A new device")
struct NewDeviceTests {
    @Test("comes through a namespace of many pages although deletes in it have been forgotten", .timeLimit(.minutes(5)))
    func forgottenDeletes() async throws {
        // Given more records than a page holds, and a later delete whose tombstone compaction has removed
        let wall = Atomic<Int64>(1_000_000_000_000)
        var environment = ServerEnvironment.system
        environment.wallMilliseconds = { wall.load(ordering: .relaxed) }
        let server = try RecordServer.running(environment: environment)
        for batch in 0..<3 {
            let writes = (1...1_000).map {
                "{\"number\":\(batch * 1_000 + $0),\"op\":\"put\",\"key\":\"c/\(batch * 1_000 + $0)\",\"value\":1}"
            }
            let body = "{\"client\":\"filler\",\"writes\":[\(writes.joined(separator: ","))]}"
            let folder = TemporaryDirectory()
            try body.write(toFile: "\(folder.path)/batch.json", atomically: true, encoding: .utf8)
            let message = ["-H", "Content-Type: application/json", "-d", "@\(folder.path)/batch.json"]
            #expect(try await curl(message + ["\(server.url)/v1/many/writes"]).status == 200)
        }
        #expect(try await curl(["-X", "DELETE", "\(server.url)/v1/many/records/c/3000"]).status == 200)
        wall.add(31 * 86_400_000, ordering: .relaxed)
        await server.compact()
        #expect(try await curl(["\(server.url)/v1/many/changes?since=0&limit=1"]).fields["freshet-cursor"]?.hasSuffix("-1-3001") == true)

        // When an empty device starts
        var configuration = SyncClient.Configuration(url: server.url, namespace: "many")
        configuration.following = .everything
        let client = try SyncClient(configuration)
        try await client.start()

        // Then it catches up, and has all records
        try await client.waitUntilLive()
        #expect(try await client.rawCollection("c").ids().count == 2_999)
        await client.stop()
        await server.stop()
    }
}
