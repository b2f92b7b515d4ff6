import FreshetClient
import FreshetServer
import FreshetService
import FreshetTestSupport
import Glibc
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

    @Test("a service ends when its server was stopped otherwise, so that the group does not go on without it")
    func stoppedOtherwise() async throws {
        // Given a server that its service has started
        let server = RecordServer()
        let group = group(server)
        let running = Task { try await group.run() }
        while server.address == nil { await Task.yield() }
        // When
        await server.stop()
        // Then
        await #expect(throws: ServiceGroupError.self) { try await within { try await running.value } }
    }

    @Test("a further call of stop waits for the same end, so that the directory is free")
    func stoppedTwice() async throws {
        // Given a server that waits a second for the rest of a request
        let folder = TemporaryDirectory()
        var configuration = RecordServerConfiguration(directory: folder.file("data"))
        configuration.drainTimeout = .seconds(1)
        let server = try RecordServer.running(configuration)
        let port = try #require(server.address?.port)
        let descriptor = try #require(Sockets.connect(port: UInt16(port)))
        Sockets.write(
            descriptor, "PUT /v1/a/records/c/1 HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n".utf8)
        #expect(!Sockets.read(descriptor).isEmpty)
        // When two calls stop it at the same time
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...2 { group.addTask { await server.stop() } }
            _ = try await group.next()
            // Then not even the one that returns first does so before another server can have the directory
            let next = try RecordServer.running(configuration)
            await next.stop()
        }
        close(descriptor)
        try await server.waitUntilStopped()
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
