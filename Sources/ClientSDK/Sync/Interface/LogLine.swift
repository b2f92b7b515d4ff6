/// A line for the log.
package struct LogLine: Hashable, Sendable {
    package enum Level: Hashable, Sendable { case info, warning, error }

    package var level: Level
    package var text: String

    package init(_ level: Level, _ text: String) {
        self.level = level
        self.text = text
    }
}
