import Logging
import Synchronization
import Testing

@testable import FreshetClient

@Suite("The log of a client") struct ClientLogTests {
    @Test("has one line for each message, and no control character of a text")
    func escapes() {
        // Given
        let lines = Mutex<[String]>([])
        let log = ClientLog(Logger(label: "test") { _ in ListLog { line in lines.withLock { $0.append(line) } } })
        // When texts of a server are logged
        log.warning("refused: no\u{1B}[2J\r\nerror: forged\u{9B}\u{7F}\u{2028}\u{202E}")
        log.log(level: .critical, "a\0b")
        log.info("naïve 😀 \\n e\u{301}")
        // Then
        #expect(
            lines.withLock { $0 } == [
                #"warning: refused: no\u{1b}[2J\u{d}\u{a}error: forged\u{9b}\u{7f}\u{2028}\u{202e}"#, #"critical: a\u{0}b"#,
                "info: naïve 😀 \\n e\u{301}",
            ])
    }
}

/// Passes each line to a closure.
private struct ListLog: LogHandler {
    let report: @Sendable (String) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { report("\(event.level): \(event.message.description)") }
}
