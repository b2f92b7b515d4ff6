import FreshetTestSupport
import Glibc
import Logging
import Testing

@testable import FreshetServer

@Suite("Relative paths of a server") struct WorkingDirectoryTests {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A configuration that names every kind of file.
    private static func configuration(in folder: String) -> RecordServerConfiguration {
        func tls(_ name: String) -> RecordServerConfiguration.TLS {
            .init(
                certificates: [
                    .init(chain: "\(folder)\(name).pem", key: "\(folder)\(name).key"),
                    .init(chain: "\(folder)\(name)-2.pem", key: "\(folder)\(name)-2.key"),
                ], clientAuthority: "\(folder)\(name)-ca.pem")
        }
        var configuration = RecordServerConfiguration(directory: "\(folder)data")
        (configuration.auditLog, configuration.adminSocket) = ("\(folder)audit.jsonl", "\(folder)admin.sock")
        configuration.tls = tls("first")
        configuration.otherListeners = [.init(host: "::1", port: 1, tls: tls("other")), .init(host: "::1", port: 2)]
        configuration.adminListener = .init(host: "::1", port: 3, tls: tls("admin"))
        return configuration
    }

    @Test("all paths of a configuration are made absolute, and absolute ones stay")
    func absolute() throws {
        let given = try Self.configuration(in: "").withAbsolutePaths()
        let directory = try #require(getcwd(nil, 0).map { String(cString: $0) })
        let expected = Self.configuration(in: directory + "/")
        #expect(given.storage == expected.storage && given.auditLog == expected.auditLog && given.adminSocket == expected.adminSocket)
        #expect(given.listeners == expected.listeners)
        #expect(try expected.withAbsolutePaths().listeners == expected.listeners)
    }

    @Test("a server's files stay where they were when it was created, also those that it opens again")
    func files() async {
        await #expect(processExitsWith: .success) {
            // Given a server in relative paths
            let (home, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
            #expect(chdir(home.path) == 0)
            var configuration = RecordServerConfiguration(directory: "./data")
            (configuration.auditLog, configuration.adminSocket) = ("audit.jsonl", "./admin.sock")
            let server = RecordServer(configuration, logger: WorkingDirectoryTests.quiet)
            // When the working directory changes before its start
            #expect(chdir(elsewhere.path) == 0)
            try server.start()
            // Then its files are in the first directory
            #expect(home.files == ["admin.sock", "admin.sock.lock", "audit.jsonl", "data"])
            // And when its audit log was renamed and is opened again
            #expect(rename(home.file("audit.jsonl"), home.file("audit.1")) == 0)
            try server.reopenAuditLog()
            await server.stop()
            // Then it is there again, and the socket was removed
            #expect(home.files == ["admin.sock.lock", "audit.1", "audit.jsonl", "data"] && elsewhere.files.isEmpty)
        }
    }

    @Test("a path that begins with ~ is refused at the start and at a reload, with what to write")
    func home() async throws {
        var configuration = RecordServerConfiguration(directory: "~/data")
        let server = RecordServer(configuration, logger: Self.quiet)
        let error = #expect(throws: RecordServerError.self) { try server.start() }
        #expect(error?.description.contains("the data directory '~/data' begins with ~") == true)
        // And by a store without a server
        #expect(throws: StoreError.self) { try SQLiteRecordStore(directory: "~/data", seed: 1) }
        configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        let running = try RecordServer.running(configuration, logger: Self.quiet)
        configuration.auditLog = "~/audit.jsonl"
        let refused = #expect(throws: RecordServerError.self) { try running.reload(configuration) }
        #expect(refused?.description.contains("the audit log '~/audit.jsonl' begins with ~") == true)
        await running.stop()
    }
}
