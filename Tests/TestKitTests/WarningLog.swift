import Logging

/// Passes the text of each warning and error to a closure.
struct WarningLog: LogHandler {
    let report: @Sendable (String) -> Void
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { report(event.message.description) }
}
