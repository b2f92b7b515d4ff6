import Logging
import Synchronization
import Testing

@testable import freshet

/// Text from others in the log of a command.
struct EscapingLogHandlerTests {
    private static let forged = "x\n2026-01-02T03:04:05+0000 error freshet: forged\u{1B}[2J\u{9B}\u{202E}"
    private static let escaped = #"x\u{a}2026-01-02T03:04:05+0000 error freshet: forged\u{1b}[2J\u{9b}\u{202e}"#

    private let output = Output()

    /// The text that a handler of swift-log prints.
    private final class Output: TextOutputStream, Sendable {
        private let written = Mutex("")

        var text: String { written.withLock { $0 } }

        func write(_ text: String) { written.withLock { $0 += text } }
    }

    /// A value and an error whose text is given.
    private struct Text: Error, CustomStringConvertible {
        let description: String
    }

    private var logger: Logger { Logger(label: "freshet") { EscapingLogHandler(StreamLogHandler(label: $0, stream: output)) } }

    @Test("text in a message and in metadata neither begins a line nor commands a terminal")
    func oneLine() {
        // Given a logger with metadata
        let text = Text(description: Self.forged)
        var logger = logger
        logger[metadataKey: "own"] = "\(Self.forged)"
        // When
        logger.warning(
            "\(Self.forged)", error: text,
            metadata: [
                Self.forged: "\(Self.forged)", "value": .stringConvertible(text),
                "list": ["\(Self.forged)", [Self.forged: "\(Self.forged)"]],
            ])
        // Then it is one line that shows each text
        let printed = output.text
        #expect(printed.split(separator: "\n").count == 1 && printed.hasSuffix("\n"), "\(printed)")
        #expect(TerminalText.escaped(String(printed.dropLast()), as: .line) == String(printed.dropLast()), "\(printed)")
        for part in ["own=", "value=", "error.message=", "\(Self.escaped)=", "] "] {
            #expect(printed.contains(part + Self.escaped), "\(part) in \(printed)")
        }
    }

    @Test("the level and the text of usual events are kept")
    func usualEvents() {
        var logger = logger
        logger.logLevel = .warning
        // When
        logger.notice("not shown")
        logger.warning("“naïve” \\ 👩‍👩‍👧", metadata: ["ns": "shop"])
        // Then
        #expect(output.text.hasSuffix(" “naïve” \\ 👩‍👩‍👧\n"), "\(output.text)")
        #expect(output.text.split(separator: "\n").count == 1 && output.text.contains(" warning freshet: ns=shop "), "\(output.text)")
    }
}
