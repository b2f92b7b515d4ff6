public import FreshetWire

/// Why a key shows its value: the latest changes, fetches and writes of the key, each with its outcome.
public struct Explanation: Sendable, CustomStringConvertible {
    /// One event of a key.
    public struct Event: Hashable, Sendable {
        /// When, by this device's wall clock.
        public var time: Timestamp
        /// The event and its outcome, in a sentence: applied, dropped and why, sent, confirmed, rolled back.
        public var text: String

        /// Creates an event.
        public init(time: Timestamp, text: String) {
            self.time = time
            self.text = text
        }
    }

    /// The record.
    public var key: RecordKey
    /// The record as it is shown now, as bytes.
    public var snapshot: Snapshot<Content>
    /// The events since the client was started, oldest first. The number is bounded, so the oldest may be missing.
    public var events: [Event]

    /// Creates an explanation.
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
