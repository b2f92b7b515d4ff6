import FreshetWire

/// How far a device that holds no complete copy yet has come with its first one, in this process.
package struct FirstCopy: Hashable, Sendable {
    /// How many records the pages so far have brought.
    package private(set) var records = 0
    /// The bytes of their values.
    package private(set) var bytes = 0
    /// The share of the positions from the first to the end of the feed that was read, from 0 to 1.
    package private(set) var share = 0.0
    /// The position at which this process began; `nil` before the first page.
    private var start: Int64?

    /// Counts a page that is on disk.
    ///
    /// - Parameter from: the position before the page; `nil` for the first.
    mutating func add(_ entries: [EntryOperation], from: Cursor?, to position: Cursor) {
        for index in entries.indices {
            guard case .put(let entry, _) = entries[index], let content = entry.content else { continue }
            records += 1
            bytes += content.bytes.count
        }
        let start = start ?? from?.revision.number ?? 0
        self.start = start
        guard let goal = position.goal?.revision.number, goal > start else { return share = 1 }
        share = min(1, Double(max(0, position.revision.number - start)) / Double(goal - start))
    }
}
