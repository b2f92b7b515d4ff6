/// The loads under way that may store what they bring, by what they are for. Its owner guards it, and lets go of what it hands out
/// without a lock.
@usableFromInline
struct LoadTable<Name: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var loads: [Name: Load<Value>] = [:]

    @usableFromInline
    init() {}

    /// Asked at each write of a cache, so it must be specialised there.
    @inlinable var isEmpty: Bool { loads.isEmpty }

    func contains(_ name: Name) -> Bool { loads[name] != nil }

    /// Whether a load may still store what it brings.
    func holds(_ load: Load<Value>, _ name: Name) -> Bool { loads[name] === load }

    /// Takes part in the load of this name, or begins one.
    ///
    /// - Parameter tags: those of what it will bring; nil where nobody knows them yet.
    /// - Returns: `left`, a load that nobody waits for any more, to be let go of.
    mutating func ask(_ name: Name, tags: Set<String>?) -> (load: Load<Value>, waiter: UInt64, isNew: Bool, left: Load<Value>?) {
        if let load = loads[name], let waiter = load.join() { return (load, waiter, false, nil) }
        let load = Load<Value>(tags: tags)
        // A new load was not abandoned.
        return (load, load.join() ?? 0, true, loads.updateValue(load, forKey: name))
    }

    /// What the load of this name brings is not to be stored.
    mutating func end(_ name: Name) -> (name: Name, load: Load<Value>)? {
        guard let index = loads.index(forKey: name) else { return nil }
        let (name, load) = loads.remove(at: index)
        return (name, load)
    }

    /// The same for all.
    mutating func endAll() -> [Name: Load<Value>] {
        defer { loads = [:] }
        return loads
    }

    /// The same for all that bring, or may bring, something with this tag.
    mutating func endAll(taggedWith tag: String) -> [Name: Load<Value>] {
        let tagged = loads.filter { $0.value.tags?.contains(tag) ?? true }
        for name in tagged.keys { loads[name] = nil }
        return tagged
    }
}
