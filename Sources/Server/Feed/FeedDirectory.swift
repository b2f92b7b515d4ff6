import FreshetWire

/// What is kept for each namespace, found at once where it is the one that was asked for last: polls come in crowds.
struct FeedDirectory<Entry: Sendable>: Sendable {
    private var entries: [Namespace: Entry] = [:]
    private var latest: (namespace: Namespace, entry: Entry)?

    /// What is kept for a namespace, remembered as the latest.
    mutating func find(_ namespace: Namespace) -> Entry? {
        if let latest, latest.namespace == namespace { return latest.entry }
        let entry = entries[namespace]
        if let entry { latest = (namespace, entry) }
        return entry
    }

    subscript(namespace: Namespace) -> Entry? {
        get { entries[namespace] }
        set {
            entries[namespace] = newValue
            latest = nil
        }
    }

    var all: [(Namespace, Entry)] { entries.map { ($0.key, $0.value) } }
}
