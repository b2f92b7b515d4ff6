/// The access rows of a store in memory, with the versions in which they were changed. A pure value.
struct AccessTable: Sendable {
    private struct Entry: Sendable {
        /// `nil` once the row is removed.
        var row: AccessRow?
        /// The version that changed it.
        var changed: Int64
    }

    private var entries: [AccessRow.Name: Entry] = [:]
    private var number: Int64 = 0
    /// The rows that were removed, in the order of their versions; some may have been stored again since.
    private var removals: [(name: AccessRow.Name, changed: Int64)] = []
    /// The entries that the open transaction has changed, as they were before; the latest change last.
    private var undo: [(name: AccessRow.Name, entry: Entry?)] = []

    /// The version before the changes of the open transaction.
    var version: AccessVersion { AccessVersion(number: number) }

    mutating func set(_ row: AccessRow?, _ name: AccessRow.Name) {
        guard row != nil || entries[name]?.row != nil else { return }
        undo.append((name, entries.updateValue(Entry(row: row, changed: number + 1), forKey: name)))
    }

    mutating func commit() {
        guard !undo.isEmpty else { return }
        number += 1
        removals += Set(undo.lazy.map(\.name)).filter { entries[$0]?.row == nil }.map { ($0, number) }
        undo.removeAll(keepingCapacity: true)
        forgetRemovals()
    }

    mutating func rollBack() {
        while let (name, entry) = undo.popLast() { entries[name] = entry }
    }

    private mutating func forgetRemovals() {
        let first = removals.firstIndex { $0.changed > number - AccessChanges.kept } ?? removals.endIndex
        for removal in removals[..<first] where entries[removal.name].map({ $0.row == nil && $0.changed == removal.changed }) == true {
            entries[removal.name] = nil
        }
        removals.removeSubrange(..<first)
    }

    func changes(after base: AccessVersion?) -> AccessChanges {
        guard let base, base.history == 0, base.number <= number, base.number >= number - AccessChanges.kept else {
            return AccessChanges(after: nil, version: version, rows: rows(entries.values.lazy.compactMap(\.row)))
        }
        let changed = entries.filter { $0.value.changed > base.number && $0.value.changed <= number }
        let removed = changed.filter { $0.value.row == nil }.keys.sorted { ($0.kind.rawValue, $0.text) < ($1.kind.rawValue, $1.text) }
        return AccessChanges(after: base, version: version, rows: rows(changed.values.lazy.compactMap(\.row)), removed: removed)
    }

    private func rows(_ rows: some Sequence<AccessRow>) -> [AccessRow] {
        rows.sorted { ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name) }
    }
}
