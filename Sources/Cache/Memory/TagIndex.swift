/// The tags of the entries.
@usableFromInline
struct TagIndex: Sendable {
    private var entries: [CacheTag: Set<EntryReference>] = [:]
    private var tags: [EntryReference: Set<CacheTag>] = [:]

    @usableFromInline
    init() {}

    @usableFromInline
    mutating func set(_ newTags: Set<CacheTag>, of entry: EntryReference) {
        removeAll(of: entry)
        guard !newTags.isEmpty else { return }
        tags[entry] = newTags
        for tag in newTags { entries[tag, default: []].insert(entry) }
    }

    @usableFromInline
    mutating func removeAll(of entry: EntryReference) {
        for tag in tags.removeValue(forKey: entry) ?? [] {
            entries[tag]?.remove(entry)
            if entries[tag]?.isEmpty == true { entries[tag] = nil }
        }
    }

    func tags(of entry: EntryReference) -> Set<CacheTag> { tags[entry] ?? [] }

    func entries(with tag: CacheTag) -> Set<EntryReference> { entries[tag] ?? [] }
}
