/// The part of an entry that readers need. Guarded by its shard's lock.
@usableFromInline
struct CacheSlot<Key, Value> {
    @usableFromInline let key: Key
    @usableFromInline var value: Value
    @usableFromInline var end: EntryEnd

    @inlinable
    init(key: Key, value: Value, resolved: ResolvedLifetime) {
        self.key = key
        self.value = value
        end = EntryEnd(resolved.timing, resolved.deadline)
    }
}
