/// The identifier of a resource's version: `"v1"`, or `W/"v1"` for versions that are only equivalent (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    package let isWeak: Bool
    /// The bytes between the quotes, which need not be UTF-8 (RFC 9110 §8.8.3, `obs-text`).
    private let opaque: [UInt8]

    /// Parses a tag. A tag without quotes, which many servers send, counts as weak.
    ///
    /// - Returns: `nil` if there are no bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return nil }
        let hasMark = bytes.starts(with: "W/".utf8)
        let rest = Array(bytes.dropFirst(hasMark ? 2 : 0))
        let isQuoted = rest.count >= 2 && rest.first == 0x22 && rest.last == 0x22
        isWeak = hasMark || !isQuoted
        opaque = isQuoted ? Array(rest.dropFirst().dropLast()) : rest
    }

    /// Whether both tags name the same version, ignoring weakness (weak comparison).
    package func matches(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
