import FreshetServer
import FreshetTestSupport
import Testing

@Suite("A server with settings at the ends of their types", .timeLimit(.minutes(5)))
struct ServerExtremeTests {
    @Test("the greatest limits and the longest times work", arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 18])
    func greatest(time: Duration) async throws {
        // Given
        var configuration = RecordServerConfiguration()
        (configuration.connections, configuration.connectionsPerAddress, configuration.trustedProxies) = (.max, .max, [])
        (configuration.bodyBytes, configuration.requestMemory, configuration.answerMemory) = (.max, .max, .max)
        (configuration.editedBytes, configuration.inlineBytes, configuration.pendingReads) = (.max, .max, .max)
        (configuration.recentChanges, configuration.recentBytes, configuration.recentTotalBytes) = (.max, .max, .max)
        (configuration.tombstoneRetention, configuration.outcomeRetention) = (time, time)
        (configuration.compactionInterval, configuration.drainTimeout) = (time, time)
        let server = try RecordServer.running(configuration)
        // When and then
        let field = "Content-Type: application/json"
        #expect(try await curl(["-X", "PUT", "-H", field, "-d", "1", server.url + "/v1/shop/records/fruits/apple"]).status == 201)
        #expect(try await curl([server.url + "/v1/shop/records/fruits/apple"]).body == "1")
        #expect(try await curl([server.url + "/v1/shop/changes?since=0&wait=0"]).status == 200)
        await server.stop()
    }

    @Test("times below zero are refused, or are over at once")
    func least() async throws {
        for change: (inout RecordServerConfiguration) -> Void in [
            { $0.tombstoneRetention = .seconds(Int64.min) * 18 }, { $0.outcomeRetention = .seconds(Int64.min) * 18 },
            { $0.compactionInterval = .seconds(Int64.min) * 18 },
        ] {
            var configuration = RecordServerConfiguration()
            change(&configuration)
            #expect(throws: RecordServerError.self) { try RecordServer.running(configuration) }
        }
        var configuration = RecordServerConfiguration()
        configuration.drainTimeout = .seconds(Int64.min) * 18
        await (try RecordServer.running(configuration)).stop()
    }
}
