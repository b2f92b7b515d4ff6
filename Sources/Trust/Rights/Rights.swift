package import FreshetWire

/// The union of the grants of a token or key. There are no grants that take away.
package struct Rights: Hashable, Sendable {
    /// The most grants of one token, key or role.
    package static let maximumGrants = 32
    /// The most ranges that these have together.
    package static let maximumRanges = 64

    package let grants: [Grant]

    package static let none = Rights([])
    /// Every operation on every namespace: the rights of the operator.
    package static let all = Rights([.all])

    package init(_ grants: [Grant]) { self.grants = grants }

    /// The bytes that the rights take in memory, about. O(n).
    package var weight: Int { grants.reduce(0) { $0 + $1.ranges.weight + 64 } }

    /// Decides a request. This is the only function that does. O(g log n) for g grants of n ranges.
    /// - Parameter range: the record, or the range of a list or sweep, which must lie within one range of a grant;
    ///   ``KeyRange/everything`` for operations on the namespace.
    package func decide(_ verb: Verb, in namespace: Namespace, of range: KeyRange) -> Decision {
        // A verb that concerns a namespace is never allowed by a part of the namespace.
        let range = verb.concernsNamespace ? .everything : range
        guard let index = grants.firstIndex(where: { $0.allows(verb, in: namespace, of: range) }) else {
            return .needs(MissingRight(may: verb, namespace: namespace, range: range))
        }
        return .allowed(grant: index)
    }

    /// Decides a write of one record, for every way to send one.
    ///
    /// A sender that may not read a record must not learn from a write what the record is. So a write whose outcome depends on the
    /// record needs `read` too, and every other one has the same outcome whatever the record is.
    ///
    /// - Parameter dependsOnRecord: whether the record decides if the write is applied: it patches or increments, has a
    ///   precondition, or belongs to an atomic batch, for which the sizes of the records count.
    package func decideWrite(in namespace: Namespace, of key: RecordKey, dependsOnRecord: Bool) -> Decision {
        let decision = decide(.write, in: namespace, of: .key(key))
        guard dependsOnRecord, case .allowed = decision, case .needs(let missing) = decide(.read, in: namespace, of: .key(key)) else {
            return decision
        }
        return .needs(missing)
    }

    /// Decides a request for changes, and which of them the reader receives. O(g n).
    package func decideFeed(in namespace: Namespace, _ filter: ChangeFilter) -> FeedDecision {
        switch ranges(of: .read, in: namespace).readable(filter) {
        case .filter(let filter): .everything(filter)
        case .ranges(let ranges): .part(ranges)
        case .unreadable(let range): .needs(MissingRight(may: .read, namespace: namespace, range: range))
        }
    }

    /// All records of a namespace to which the verb may be applied; empty if the namespace is out of reach. O(n log n).
    package func ranges(of verb: Verb, in namespace: Namespace) -> RangeSet {
        RangeSet(grants.filter { $0.verbs.contains(verb) && $0.namespaces.matches(namespace) }.flatMap(\.ranges.ranges))
    }

    /// Whether the verb may be applied to at least one record of the namespace. O(g).
    package func reaches(_ namespace: Namespace, with verb: Verb) -> Bool {
        grants.contains { $0.verbs.contains(verb) && $0.namespaces.matches(namespace) && !$0.ranges.isEmpty }
    }

    /// The namespaces in which anything is allowed: patterns that match none in common, in the order of the names. O(g log g).
    package var reach: [NamespacePattern] {
        let patterns = grants.filter { !$0.verbs.isEmpty && !$0.ranges.isEmpty }.map(\.namespaces)
        var reach: [NamespacePattern] = []
        // One that matches more names comes first among those of the same beginning.
        for pattern in patterns.sorted(by: { ($0.prefix, $0.isOne ? 1 : 0) < ($1.prefix, $1.isOne ? 1 : 0) }) {
            if let last = reach.last, last == pattern || !last.isOne && pattern.prefix.utf8.starts(with: last.prefix.utf8) { continue }
            reach.append(pattern)
        }
        return reach
    }
}

extension NamespacePattern {
    /// Whether it matches one namespace alone.
    fileprivate var isOne: Bool {
        if case .namespace = self { true } else { false }
    }
}

/// The decision about one request.
package enum Decision: Hashable, Sendable {
    /// The grant with this index allows it.
    case allowed(grant: Int)
    case needs(MissingRight)
}

/// The decision about a request for changes.
package enum FeedDecision: Hashable, Sendable {
    /// The reader may read the whole namespace: responses, cursors and batches are those of a server without rights.
    case everything(ChangeFilter)
    /// The reader receives the changes within these ranges, and cursors with the digest of all its readable ranges.
    case part(RangeSet)
    case needs(MissingRight)
}

/// The right that a request lacks: the `needs` of a 403.
package struct MissingRight: Hashable, Sendable {
    package let may: Verb
    package let namespace: Namespace
    package let range: KeyRange

    package init(may: Verb, namespace: Namespace, range: KeyRange) {
        self.may = may
        self.namespace = namespace
        self.range = range
    }

    /// The address as the command line takes it: `shop:carts/u7/*`. An id of any bytes may be part of it.
    package var of: String { "\(namespace.name):\(range.rangeText)" }

    /// Writes `{"may":"write","of":"shop:carts/u7/1"}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("may", may.rawValue)
        writer.member("of", of)
        writer.endObject()
    }
}

extension Grant {
    /// Everything.
    package static let all = Grant(all: Verbs(Verb.allCases))

    private init(all verbs: Verbs) {
        namespaces = .all
        ranges = .everything
        self.verbs = verbs
    }
}
