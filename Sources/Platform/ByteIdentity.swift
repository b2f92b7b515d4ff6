/// Names are equal when their bytes are. `String` compares by canonical equivalence instead, by which `é` in its two
/// spellings would be one record here and two in SQLite. It also takes quadratic time for a text of combining characters:
/// compare no text of a peer by `==`, `hasPrefix`, `switch` or as the key of a dictionary before its length is bounded or
/// it is known to be ASCII. A prefix is one of the bytes, `utf8.starts(with:)`: `hasPrefix` compares characters, and a
/// mark after the prefix is one character with its end.
package enum ByteIdentity {
    /// A name as the key of a dictionary: equal, hashed and ordered by its bytes.
    package struct Name: Hashable, Comparable, Sendable {
        package let text: String

        package init(text: String) { self.text = text }

        package static func == (left: Name, right: Name) -> Bool { areEqual(left.text, right.text) }

        package func hash(into hasher: inout Hasher) { ByteIdentity.hash(text, into: &hasher) }

        package static func < (left: Name, right: Name) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }
    }

    package static func areEqual(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        if left.utf8.isEmpty { return true }
        let areEqual = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in left.elementsEqual(right) }
        }
        // A string that another language has made may have its bytes in pieces.
        return (areEqual ?? nil) ?? left.utf8.elementsEqual(right.utf8)
    }

    package static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(text.utf8.count)
    }
}
