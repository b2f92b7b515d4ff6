import FreshetSimulator

extension Scenario {
    /// The most bytes of a file.
    private static var longestFile: Int { 64 << 20 }

    /// Reads a scenario's text from a file; `-` is standard input.
    /// - Throws: ``CommandFailure`` if the file cannot be read, is not UTF-8, or has no scenario.
    init(file path: String) throws(CommandFailure) {
        guard let text = String(validating: try ValueArgument.file(path, limit: Self.longestFile), as: UTF8.self) else {
            throw CommandFailure(.data, "\(path) is not UTF-8")
        }
        do { try self.init(text: text) } catch { throw CommandFailure(.data, "\(path): \(error)") }
    }
}
