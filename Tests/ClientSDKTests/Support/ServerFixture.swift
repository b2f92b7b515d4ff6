import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetWire

/// A real server behind a proxy that can fail, for tests from end to end.
final class ServerFixture: Sendable {
    let server: RecordServer
    let proxy: FaultProxy

    init(_ configuration: RecordServerConfiguration = RecordServerConfiguration()) throws {
        server = try RecordServer.running(configuration)
        proxy = try FaultProxy(to: server.address?.port ?? 0)
    }

    var port: Int { server.address?.port ?? 0 }

    /// A client with short back-offs, straight to the server or through the proxy.
    func client(
        throughProxy: Bool = false, storage: SyncClient.Configuration.Storage = .memory,
        _ change: (inout SyncClient.Configuration) -> Void = { _ in }
    ) throws -> SyncClient {
        try Self.client(throughProxy ? proxy.url : server.url, storage: storage, change)
    }

    static func client(
        _ url: String, storage: SyncClient.Configuration.Storage = .memory, _ change: (inout SyncClient.Configuration) -> Void = { _ in }
    ) throws -> SyncClient {
        var configuration = SyncClient.Configuration(url: url, namespace: "test", storage: storage)
        configuration.firstDelay = .milliseconds(10)
        configuration.longestDelay = .milliseconds(50)
        configuration.hold = .seconds(5)
        configuration.following = .everything
        // The memory of this machine is not under test.
        configuration.memoryPressure = nil
        change(&configuration)
        return try SyncClient(configuration)
    }

    /// A client that is live.
    func live(
        throughProxy: Bool = false, storage: SyncClient.Configuration.Storage = .memory,
        _ change: (inout SyncClient.Configuration) -> Void = { _ in }
    ) async throws -> SyncClient {
        let client = try client(throughProxy: throughProxy, storage: storage, change)
        try await client.start()
        try await within { try await client.waitUntilLive() }
        return client
    }
}

/// The value that the tests store.
struct Note: Codable, Hashable, Sendable {
    var text: String
    var votes = 0
}

extension SyncClient {
    var notes: SyncedCollection<Note> { collection("notes", of: Note.self) }
}

extension SyncClient {
    /// Waits until the client knows that it is offline.
    func offline() async throws {
        _ = try await first(of: statuses, "offline") { if case .offline = $0.connection { true } else { false } }
    }

    /// Waits until the client has stored the changes up to the revision.
    func past(_ revision: Revision) async throws {
        _ = try await first(of: statuses, "revision \(revision)") { $0.cursor.map { $0.revision >= revision } ?? false }
    }
}
