public import FreshetWire

/// Why a key shows what it shows: the changes, fetches and writes that met it lately, each with what became of it.
public struct Explanation: Sendable, CustomStringConvertible {
    /// One event in a key's story.
    public struct Event: Hashable, Sendable {
        /// When, by this device's wall clock.
        public var time: Timestamp
        /// What came, and what became of it, in a sentence: applied, dropped and why, sent, confirmed, rolled back.
        public var text: String

        /// An event.
        public init(time: Timestamp, text: String) {
            self.time = time
            self.text = text
        }
    }

    /// The record.
    public var key: RecordKey
    /// What it shows now, as bytes.
    public var snapshot: Snapshot<Content>
    /// What happened to it since the client was started, oldest first; bounded, so that the oldest may be missing.
    public var events: [Event]

    /// An explanation.
    public init(key: RecordKey, snapshot: Snapshot<Content>, events: [Event]) {
        self.key = key
        self.snapshot = snapshot
        self.events = events
    }

    /// Several lines for a person.
    public var description: String {
        var lines = ["\(key): \(([snapshot.contentSummary] + snapshot.details).joined(separator: ", "))"]
        for event in events { lines.append("  \(event.time)  \(event.text)") }
        return lines.joined(separator: "\n")
    }
}
