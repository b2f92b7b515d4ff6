package import FreshetWire

/// Verbs on ranges of namespaces: `{"ns":"shop","in":["articles","carts/u7/*"],"may":["read","write"]}`.
package struct Grant: Hashable, Sendable {
    package let namespaces: NamespacePattern
    package let ranges: RangeSet
    package let verbs: Verbs

    /// `nil` for a verb that concerns the whole namespace without the range `*`, which would allow nothing.
    package init?(namespaces: NamespacePattern, ranges: RangeSet, verbs: Verbs) {
        guard ranges.isEverything || !verbs.verbs.contains(where: \.concernsNamespace) else { return nil }
        self.namespaces = namespaces
        self.ranges = ranges
        self.verbs = verbs
    }

    package func allows(_ verb: Verb, in namespace: Namespace, of range: KeyRange) -> Bool {
        verbs.contains(verb) && namespaces.matches(namespace) && ranges.covers(range)
    }
}

/// A grant as it was read: texts whose placeholders may still have to be filled in.
struct GrantText: Hashable, Sendable {
    let namespaces: String
    let ranges: [String]
    let verbs: Verbs

    static let advice = #"a grant takes {"ns": a namespace, "in": [ranges], "may": [verbs]}"#

    init(namespaces: String, ranges: [String], verbs: Verbs) {
        (self.namespaces, self.ranges, self.verbs) = (namespaces, ranges, verbs)
    }

    /// - Parameter remaining: how many ranges may still follow, in this grant and in the following ones.
    init(_ reader: inout StrictReader, remaining: inout Int) throws(TrustError) {
        var namespaces: String?
        var ranges: [String] = []
        var verbs: Verbs = []
        var left = remaining
        try reader.object("ns, in, may") { name, reader throws(TrustError) in
            switch name {
            case "ns": namespaces = try reader.text()
            case "in":
                try reader.array(atMost: left, "ranges in one list of grants") { reader throws(TrustError) in
                    ranges.append(try reader.text())
                }
            case "may":
                try reader.array(atMost: Verb.allCases.count, "verbs") { reader throws(TrustError) in
                    let text = try reader.string()
                    guard let verb = Verb(rawValue: text) else {
                        throw reader.fail("'\(text.shortened)' is no verb: it takes \(Verb.list)")
                    }
                    verbs.insert(Verbs(verb))
                }
            default: return false
            }
            return true
        }
        left -= ranges.count
        guard let namespaces, !ranges.isEmpty, !verbs.isEmpty else { throw reader.fail(Self.advice) }
        self.init(namespaces: namespaces, ranges: ranges, verbs: verbs)
        remaining = left
    }

    /// The grant that the texts state, or why they state none.
    func grant() -> Result<Grant, GrantError> {
        do throws(WireError) {
            let pattern = try NamespacePattern(namespaces)
            var ranges: [KeyRange] = []
            for text in self.ranges { ranges.append(try KeyRange(range: text)) }
            guard let grant = Grant(namespaces: pattern, ranges: RangeSet(ranges), verbs: verbs) else {
                return .failure(.verbOfNamespace(verbs.verbs.first(where: \.concernsNamespace) ?? .drop))
            }
            return .success(grant)
        } catch {
            return .failure(.invalidName(error))
        }
    }
}

/// Why texts state no grant.
enum GrantError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A name or range is none.
    case invalidName(WireError)
    /// The verb needs the range `*`.
    case verbOfNamespace(Verb)

    var description: String {
        switch self {
        case .invalidName(let error):
            "\(error.description); a namespace may end in *, and a range is *, collection, collection/id or collection/prefix*"
        case .verbOfNamespace(let verb): "'\(verb.rawValue)' concerns the whole namespace: give it a separate grant with \"in\": [\"*\"]"
        }
    }
}
