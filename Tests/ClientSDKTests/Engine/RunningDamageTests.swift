import FreshetSQLite
import FreshetTestSupport
import Logging
import Synchronization
import Testing

@testable import FreshetClient

@Suite("A file that is damaged while its client runs") struct RunningDamageTests {
    private let directory = TemporaryDirectory()

    /// Overwrites the root page of the outbox.
    private func damage() throws {
        let root: Int
        do {
            let connection = try Connection(path: directory.file("freshet.sqlite"))
            // The client's connection reads pages again after a commit of another one.
            let version = try #require(try connection.pragma("user_version"))
            try connection.pragma("user_version=\(version)")
            _ = try connection.checkpoint(truncating: true)
            root = try connection.withStatement("SELECT rootpage FROM sqlite_schema WHERE name = 'outbox'") { statement in
                try #require(try statement.step())
                return Int(statement.int64(0))
            }
        }
        directory.write([UInt8](repeating: 0xFF, count: 4_096), to: "freshet.sqlite", at: (root - 1) * 4_096)
    }

    @Test("is moved aside, and each waiting call fails with its new name")
    func waitingCalls() async throws {
        // Given a client without a server, with a waiting write
        let lines = Mutex<[String]>([])
        let client = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path)) { configuration in
            (configuration.firstDelay, configuration.longestDelay) = (.seconds(600), .seconds(600))
            configuration.logger = Logger(label: "test") { _ in
                LineLog { level, text in if level >= .error { lines.withLock { $0.append("\(level): \(text)") } } }
            }
        }
        try await client.start()
        let first = try await client.notes.setValue(Note(text: "first"), forKey: "1")
        // When the next write meets damage
        try damage()
        let thrown = await #expect(throws: ClientError.self) { try await client.notes.setValue(Note(text: "second"), forKey: "2") }
        // Then its error states where the file is, as does that of the earlier write
        let error = try #require(thrown)
        guard case .corrupt(directory.file("freshet.sqlite"), let quarantine) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(directory.files.contains { directory.file($0) == quarantine }, "\(quarantine)")
        await #expect(throws: error) { try await first.outcome() }
        #expect(client.status.feedError == error)
        // And the log has one line about it
        #expect(lines.withLock { $0 } == ["critical: \(error)"])
        // And the next start begins with an empty file
        try await client.start()
        #expect(client.status.waitingWrites == 0)
        await client.stop()
    }
}

/// Passes the level and the text of each line to a closure.
private struct LineLog: LogHandler {
    let report: @Sendable (Logger.Level, String) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(_ report: @escaping @Sendable (Logger.Level, String) -> Void) { self.report = report }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { report(event.level, event.message.description) }
}
