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
        var lines = ["\(key): \(snapshot.summary)"]
        for event in events { lines.append("  \(event.time)  \(event.text)") }
        return lines.joined(separator: "\n")
    }
}

extension Snapshot {
    /// One line for a person.
    var summary: String {
        var parts: [String] = []
        switch (isKnown, content) {
        case (false, nil): parts.append("unknown")
        case (true, nil): parts.append("no record")
        case (_, let content?): parts.append("\(content.bytes.count) bytes of \(content.type)")
        }
        if let revision { parts.append("at revision \(revision)") }
        parts.append("from \(source.rawValue)")
        if isPending { parts.append("pending") }
        switch freshness {
        case .live?: parts.append("live")
        case .confirmed(let time)?: parts.append("confirmed at \(time)")
        case .unverified(let time)?: parts.append("unverified since \(time)")
        case nil: break
        }
        return parts.joined(separator: ", ")
    }
}
