package import FreshetWire

extension InvalidationScope {
    /// Whether the scope reaches all that the other one does, so that a store keeps only this one.
    package func covers(_ other: InvalidationScope) -> Bool {
        switch (self, other) {
        case (.everything, _): true
        case (.collection(let own, let prefix), .collection(let collection, let longer)):
            own == collection && longer.utf8.starts(with: prefix.utf8)
        case (_, .key(let key)): contains(key)
        case (.collection, .everything), (.key, .collection), (.key, .everything): false
        }
    }
}
