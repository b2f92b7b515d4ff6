/// Objects that were removed from a cache, to be freed once no lock is held: a value's deinitialiser is the user's
/// code.
@usableFromInline
struct DeferredRelease<Key, Value> {
    @usableFromInline var first: (key: Key, value: Value)?
    @usableFromInline var others: [(key: Key, value: Value)] = []
    @usableFromInline var rest: [any Sendable] = []

    // Inlinable, so that it is specialised: without that each write of the cache asks for the type of the pairs.
    @inlinable
    init() {}

    /// Adds another object with user code: keys of other tables, errors, loads.
    mutating func keep(_ thing: (any Sendable)?) { if let thing { rest.append(thing) } }

    /// Adds an entry. Mostly there is one, which needs no array.
    @inlinable
    mutating func add(_ key: Key, _ value: Value) {
        if first == nil { first = (key, value) } else { others.append((key, value)) }
    }
}
