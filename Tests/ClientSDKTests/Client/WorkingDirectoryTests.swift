import FreshetPlatform
import FreshetTestSupport
import FreshetTransport
import FreshetWire
import Glibc
import Testing

@testable import FreshetClient

/// Each runs in a separate process, whose working directory changes.
@Suite("Relative paths of a client") struct WorkingDirectoryTests {
    @Test("a client that stops and starts after the working directory has changed has its waiting writes")
    func outbox() async {
        await #expect(processExitsWith: .success) {
            // Given a client in a relative directory, offline, with a write
            let (home, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
            #expect(chdir(home.path) == 0)
            let client = try SyncClient(url: "http://127.0.0.1:9", namespace: "test", storage: .directory("./device"))
            // When the directory changes before and after the first start
            #expect(chdir(elsewhere.path) == 0)
            try await client.start()
            _ = try await client.rawCollection("notes").setValue(Content(json: Array("1".utf8)), forKey: "1")
            await client.stop()
            #expect(chdir("/") == 0)
            try await client.start()
            // Then
            #expect(client.status.waitingWrites == 1)
            await client.stop()
            #expect(home.files == ["device"] && elsewhere.files.isEmpty)
        }
    }

    @Test("paths that begin with ~ are refused with what to write, and make nothing")
    func home() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryDirectory()
            #expect(chdir(folder.path) == 0)
            var configuration = SyncClient.Configuration(url: "https://127.0.0.1:9", namespace: "test", storage: .directory("~/device"))
            let error = #expect(throws: ClientError.self) { try SyncClient(configuration) }
            #expect(error?.description.contains("the directory '~/device' begins with ~") == true)
            configuration.storage = .memory
            configuration.authority = "~/authority.pem"
            #expect(throws: ClientError.self) { try SyncClient(configuration) }
            configuration.authority = nil
            configuration.clientCertificate = .init(certificate: "~/a.pem", key: "~/a.key")
            #expect(throws: ClientError.self) { try SyncClient(configuration) }
            #expect(folder.files.isEmpty)
        }
    }

    @Test("a relative authority is read where it was when the client was made")
    func authority() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryDirectory()
            #expect(chdir(folder.path) == 0)
            folder.write([], to: "authority.pem")
            var configuration = SyncClient.Configuration(url: "https://127.0.0.1:9", namespace: "test")
            configuration.authority = "authority.pem"
            let settings = try EngineSettings(configuration)
            #expect(chdir("/") == 0)
            #expect(settings.transport.tls.authority?.text == folder.file("authority.pem"))
        }
    }
}
