import FreshetWire

/// Stores an entry for each namespace, and remembers the one that was looked up last: polls of one namespace come
/// together.
struct NamespaceFeeds<Entry: Sendable>: Sendable {
    private var entries: [Namespace: Entry] = [:]
    private var latest: (namespace: Namespace, entry: Entry)?

    /// Returns the entry of a namespace, and remembers it as the latest.
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
