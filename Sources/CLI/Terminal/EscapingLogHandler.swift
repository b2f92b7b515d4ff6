import Logging

/// Passes events to another handler with visible escapes, so that text from others neither begins a line of the log nor commands a
/// terminal.
///
/// The handlers of swift-log print messages and metadata as they are. Text is escaped in a file and in a pipe too: a program that
/// reads the log takes each line for the server's.
struct EscapingLogHandler: LogHandler {
    private var handler: any LogHandler
    var metadataProvider: Logger.MetadataProvider?

    init(_ handler: any LogHandler) { self.handler = handler }

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = Self.escaped(newValue) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue.map { Self.escaped($0) } }
    }

    func log(event: LogEvent) {
        var event = event
        var metadata = metadataProvider?.get() ?? [:]
        if let own = event.metadata { metadata.merge(own) { _, own in own } }
        // The other handler would print the error as it is.
        if let error = event.error {
            metadata["error.message"] = .string("\(error)")
            metadata["error.type"] = .string(String(reflecting: type(of: error)))
            event.error = nil
        }
        event.message = Logger.Message(stringLiteral: Self.escaped(event.message.description))
        event.metadata = metadata.isEmpty ? nil : Self.escaped(metadata)
        handler.log(event: event)
    }

    private static func escaped(_ text: String) -> String { TerminalText.escaped(text, as: .line) }

    private static func escaped(_ metadata: Logger.Metadata) -> Logger.Metadata {
        Logger.Metadata(metadata.map { (escaped($0.key), escaped($0.value)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func escaped(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
        switch value {
        case .string(let text): .string(escaped(text))
        case .stringConvertible(let item): .string(escaped(item.description))
        case .dictionary(let members): .dictionary(escaped(members))
        case .array(let items): .array(items.map { escaped($0) })
        }
    }
}
