package import FreshetWire

/// The value that a device shows for a key: the confirmed record with the pending writes replayed over it (rule 7).
package struct KeyView: Hashable, Sendable {
    /// The value to show.
    package enum Value: Hashable, Sendable {
        case content(Content)
        /// There is no record, or a pending delete.
        case absent
        /// There is a record, whose value is not on this device yet.
        case elsewhere
        /// Nothing is known: the key was never read, or was evicted. A read makes it known.
        case unknown

        /// The value of an entry; ``unknown`` for `nil`.
        package init(_ entry: Entry?) {
            guard let entry else {
                self = .unknown
                return
            }
            self = if let content = entry.content { .content(content) } else if entry.lacksValue { .elsewhere } else { .absent }
        }

        /// Whether the device knows the value, so that a read from the server is not needed.
        package var isKnown: Bool {
            switch self {
            case .content, .absent: true
            case .elsewhere, .unknown: false
            }
        }

        /// The value, if there is one.
        package var content: Content? { if case .content(let content) = self { content } else { nil } }
    }

    package var key: RecordKey
    package var value: Value
    /// Whether a write of this device to the key is waiting for its verdict (rule 8).
    package var isPending: Bool
    /// The confirmed entry underneath, with its origin and the time of its confirmation; `nil` where none is known.
    package var entry: Entry?

    /// The revision of the confirmed record underneath; `nil` where none is known.
    package var revision: Revision? { entry?.revision }

    package init(key: RecordKey, value: Value, isPending: Bool, entry: Entry?) {
        self.key = key
        self.value = value
        self.isPending = isPending
        self.entry = entry
    }

    /// The view of a key without pending writes.
    package init(_ key: RecordKey, _ entry: Entry?) {
        self.init(key: key, value: Value(entry), isPending: false, entry: entry)
    }
}
