/// What names a version of a resource: `"v1"`, or `W/"v1"` where versions that mean the same may share it (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    package let isWeak: Bool
    /// The bytes between its quotes, which need not be UTF-8 (RFC 9110 §8.8.3, `obs-text`).
    private let opaque: [UInt8]

    /// Reads a tag. One without quotes, which many servers send, is taken as weak.
    ///
    /// - Returns: `nil` where there are no bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return nil }
        let hasMark = bytes.starts(with: "W/".utf8)
        let rest = Array(bytes.dropFirst(hasMark ? 2 : 0))
        let isQuoted = rest.count >= 2 && rest.first == 0x22 && rest.last == 0x22
        isWeak = hasMark || !isQuoted
        opaque = isQuoted ? Array(rest.dropFirst().dropLast()) : rest
    }

    /// Whether both name the same version, marks of weakness aside (weak comparison).
    package func matches(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
