package import FreshetWire

/// A range of records in a namespace: one, those of a collection whose ids begin with a prefix, or all. It has the same
/// form as the scope of an invalidation.
package typealias KeyRange = InvalidationScope

extension InvalidationScope {
    /// Reads `*`, `collection`, `collection/id` or `collection/prefix*`. Only a `*` at the end is a wildcard.
    /// - Throws: ``WireError/invalidKey(_:)``.
    package init(range text: String) throws(WireError) {
        guard text != "*" else {
            self = .everything
            return
        }
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            try RecordKey.check(collection: text)
            self = .collection(text, prefix: "")
            return
        }
        let collection = String(text[..<slash])
        let rest = text.utf8[text.utf8.index(after: slash)...]
        guard rest.last == UInt8(ascii: "*") else {
            self = .key(try RecordKey(text))
            return
        }
        try RecordKey.check(collection: collection)
        // By bytes: a combining character after the slash would be one character with it.
        self = .collection(collection, prefix: try RecordKey.check(prefix: String(Substring(rest.dropLast()))))
    }

    /// The text that ``init(range:)`` reads.
    package var rangeText: String {
        switch self {
        case .everything: "*"
        case .collection(let collection, let prefix): prefix.utf8.isEmpty ? collection : "\(collection)/\(prefix)*"
        case .key(let key): key.description
        }
    }

    /// Whether every record of `other` is in this range.
    package func covers(_ other: KeyRange) -> Bool {
        switch (self, other) {
        case (.everything, _): true
        case (.key(let key), .key(let other)): key == other
        case (.collection(let collection, let prefix), .key(let key)):
            collection == key.collection && key.id.utf8.starts(with: prefix.utf8)
        case (.collection(let collection, let prefix), .collection(let other, let longer)):
            collection == other && longer.utf8.starts(with: prefix.utf8)
        default: false
        }
    }

    /// The order of a ``RangeSet``: a range stands directly before those that it covers.
    static func precedes(_ left: KeyRange, _ right: KeyRange) -> Bool {
        let (left, right) = (left.place, right.place)
        if left.collection != right.collection { return left.collection < right.collection }
        if left.text.elementsEqual(right.text) { return !left.isKey && right.isKey }
        return left.text.lexicographicallyPrecedes(right.text)
    }

    /// The position in that order. No collection has an empty name, so that everything is the first.
    package var place: (collection: String, text: String.UTF8View, isKey: Bool) {
        switch self {
        case .everything: ("", "".utf8, false)
        case .collection(let collection, let prefix): (collection, prefix.utf8, false)
        case .key(let key): (key.collection, key.id.utf8, true)
        }
    }
}
