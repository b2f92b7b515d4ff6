/// What names a version of a resource: `"v1"`, or `W/"v1"` where versions that mean the same may share it (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    package let isWeak: Bool
    /// Without its quotes.
    package let opaque: String

    /// Reads a tag. One without quotes, which many servers send, is taken as weak.
    ///
    /// - Returns: `nil` for an empty text.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        let hasMark = text.hasPrefix("W/")
        let rest = hasMark ? text.dropFirst(2) : text[...]
        let isQuoted = rest.utf8.count >= 2 && rest.utf8.first == 0x22 && rest.utf8.last == 0x22
        isWeak = hasMark || !isQuoted
        opaque = String(isQuoted ? rest.dropFirst().dropLast() : rest)
    }

    /// Whether both name the same version, marks of weakness aside (weak comparison).
    package func matches(_ other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }
}
