import FreshetClient
import FreshetServer
import FreshetService
import FreshetTestSupport
import Logging
import ServiceLifecycle
import Testing

@Suite("Server and client as services", .timeLimit(.minutes(5)))
struct ServiceTests {
    private struct Note: Codable, Hashable, Sendable { var text: String }

    private func group(_ services: any Service...) -> ServiceGroup {
        ServiceGroup(
            configuration: ServiceGroupConfiguration(services: services, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    @Test("a group runs a server and a client, and a graceful shutdown stops both")
    func runsBoth() async throws {
        // Given a server that runs already, for its port, and a client that does not
        let server = try RecordServer.running()
        let client = try SyncClient(url: server.url, namespace: "test")
        let notes = client.collection("notes", of: Note.self)
        let group = group(server, client)
        // When they run in a group
        let running = Task { try await group.run() }
        for await status in client.statuses where status.connection == .live { break }
        let write = try await notes.setValue(Note(text: "a"), forKey: "1")
        #expect(try await within { try await write.waitUntilConfirmed() } != nil)
        // Then a graceful shutdown ends the group, and both have stopped
        await group.triggerGracefulShutdown()
        try await within { try await running.value }
        #expect(server.address == nil && client.status.connection == .stopped)
    }

    @Test("a service starts a server that does not run, and a cancelled task stops it")
    func cancelled() async throws {
        // Given
        let server = RecordServer()
        let running = Task { try await server.run() }
        while server.address == nil { await Task.yield() }
        // When
        running.cancel()
        // Then
        try await within { try await running.value }
        #expect(server.address == nil)
    }

    @Test("a server that cannot start ends the group with its error")
    func failing() async throws {
        // Given a port that is taken
        let first = try RecordServer.running()
        var configuration = RecordServerConfiguration()
        configuration.port = first.address?.port ?? 0
        // When
        let group = group(RecordServer(configuration))
        // Then
        await #expect(throws: RecordServerError.self) { try await within { try await group.run() } }
        await first.stop()
    }
}
