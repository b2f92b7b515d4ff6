internal import FreshetWire
internal import Logging

/// Passes lines to the logger of a client, with visible escapes for control characters.
///
/// Lines repeat texts of the server, and the handlers of swift-log print messages as they are: such a text would begin a line of the log,
/// or command a terminal.
struct ClientLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func info(_ text: String) { log(level: .info, text) }
    func warning(_ text: String) { log(level: .warning, text) }
    func error(_ text: String) { log(level: .error, text) }
    func critical(_ text: String) { log(level: .critical, text) }

    func log(level: Logger.Level, _ text: String) { logger.log(level: level, "\(Self.escaped(text))") }

    /// The text with `\u{1b}` in place of each control character, line separator and control of bidirectional text. O(n).
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.commandsTerminal) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if scalar.commandsTerminal {
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
