/// The loads in flight whose results may be stored, by name. The owner guards the table, and frees the objects that it
/// returns without a lock.
@usableFromInline
struct LoadTable<Name: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var loads: [Name: Load<Value>] = [:]

    @usableFromInline
    init() {}

    /// Read at each write of a cache, so the cache's module must specialise it.
    @inlinable var isEmpty: Bool { loads.isEmpty }

    func contains(_ name: Name) -> Bool { loads[name] != nil }

    /// Whether a load may still store its result.
    func holds(_ load: Load<Value>, _ name: Name) -> Bool { loads[name] === load }

    /// Joins the load of this name, or creates one.
    ///
    /// - Parameters:
    ///   - tags: the tags of the result; nil if they are not known yet.
    ///   - key: the key that the load's own code loads; nil for a step that only waits for other loads.
    /// - Returns: `left`, an abandoned load that the caller has to free.
    mutating func ask(
        _ name: Name, tags: Set<CacheTag>?, key: (any Sendable)?
    ) -> (load: Load<Value>, waiter: UInt64, isNew: Bool, left: Load<Value>?) {
        if let load = loads[name], let waiter = load.join() { return (load, waiter, false, nil) }
        let load = Load<Value>(tags: tags, key: key)
        // A new load was not abandoned.
        return (load, load.join() ?? 0, true, loads.updateValue(load, forKey: name))
    }

    /// Prevents the load of this name from storing its result.
    mutating func end(_ name: Name) -> (name: Name, load: Load<Value>)? {
        guard let index = loads.index(forKey: name) else { return nil }
        let (name, load) = loads.remove(at: index)
        return (name, load)
    }

    /// Prevents all loads from storing their results.
    mutating func endAll() -> [Name: Load<Value>] {
        defer { loads = [:] }
        return loads
    }

    /// Prevents all loads whose results have, or may have, this tag from storing them.
    mutating func endAll(taggedWith tag: CacheTag) -> [Name: Load<Value>] {
        let tagged = loads.filter { $0.value.tags?.contains(tag) ?? true }
        for name in tagged.keys { loads[name] = nil }
        return tagged
    }
}
