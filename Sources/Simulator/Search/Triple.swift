/// A device's state, an event that the device handled, and the latest fault: the unit that a search counts.
struct Triple: Hashable, Sendable {
    /// The part of the state that a triple describes. A search chooses the family first, so that a family with few triples is
    /// not lost beside one with many.
    enum Family: UInt64, CaseIterable, Sendable {
        case activity, key, write, lateness
    }

    let family: Family
    /// A hash of the three, the same in every build and process.
    let value: UInt64

    init(_ family: Family, state: UInt64, event: UInt16, fault: UInt8) {
        self.family = family
        value = RandomSource.mix(RandomSource.mix(state << 2 | family.rawValue) ^ (UInt64(event) << 8 | UInt64(fault)))
    }
}

/// Where a run came to a triple first.
struct FirstVisit: Hashable, Sendable {
    /// How many incidents had been.
    var incidents: Int
    /// How many steps had been.
    var steps: Int
    /// Milliseconds since the last of those incidents, or since the faults ended.
    var elapsed: Int64
    /// Whether the faults were over.
    var isHealed: Bool
}

/// A triple, and where a run came to it first.
struct TripleVisit: Hashable, Sendable {
    var triple: Triple
    var reach: FirstVisit
}
