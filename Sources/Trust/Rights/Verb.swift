/// An operation that a grant allows.
package enum Verb: String, CaseIterable, Sendable {
    /// Reads of records, lists and changes.
    case read
    /// Writes of records, and the write numbers of the principal's own clients. Writes whose outcome depends on the record need
    /// ``read`` too (``Rights/decideWrite(in:of:dependsOnRecord:)``).
    case write
    /// Invalidations within a range.
    case invalidate
    /// The first write to a namespace that does not exist.
    case create
    /// The removal of a namespace.
    case drop
    /// The status of a namespace, and the write numbers of all clients.
    case inspect

    /// Whether the operation concerns a namespace as a whole, so that a grant of it needs the range `*`.
    package var concernsNamespace: Bool {
        switch self {
        case .read, .write, .invalidate: false
        case .create, .drop, .inspect: true
        }
    }

    static let list = allCases.map(\.rawValue).joined(separator: ", ")
}

/// A set of verbs.
package struct Verbs: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package init(_ verb: Verb) { rawValue = 1 << UInt8(Verb.allCases.firstIndex(of: verb) ?? 0) }
    package init(_ verbs: some Sequence<Verb>) { self = verbs.reduce(into: []) { $0.insert(Verbs($1)) } }

    package func contains(_ verb: Verb) -> Bool { contains(Verbs(verb)) }

    /// The verbs in the order of their declaration.
    package var verbs: [Verb] { Verb.allCases.filter(contains) }
}
