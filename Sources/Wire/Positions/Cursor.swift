/// A position in a namespace's order of writes: `<epoch>-<revision>`. Opaque to clients; every response about a namespace carries one.
public struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// The history that the position belongs to.
    public let epoch: Epoch
    /// The last revision that the position includes.
    public let revision: Revision

    /// The position after `revision` in the history `epoch`.
    public init(epoch: Epoch, revision: Revision) {
        self.epoch = epoch
        self.revision = revision
    }

    /// - Throws: ``WireError/invalidCursor(_:)``.
    public init(_ text: String) throws(WireError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Epoch(String(parts[0])), let revision = Self.revision(parts[1]) else {
            throw .invalidCursor(text)
        }
        self.init(epoch: epoch, revision: revision)
    }

    /// Digits alone, without sign or leading zero, so that one position has one spelling.
    private static func revision(_ digits: Substring) -> Revision? {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits == "0" || digits.utf8.first != 0x30 else { return nil }
        return Int64(digits).flatMap(Revision.init)
    }

    /// `<epoch>-<revision>`.
    public var description: String { "\(epoch.token)-\(revision.number)" }

    /// The strong entity tag of a record whose last write has this position: the cursor in quotes (RFC 9110 §8.8.3).
    public var entityTag: String { "\"\(description)\"" }

    /// Reads an entity tag as ``entityTag`` writes it; `nil` for any other, weak ones included.
    public init?(entityTag: some StringProtocol) {
        guard entityTag.utf8.count > 2, entityTag.first == "\"", entityTag.last == "\"" else { return nil }
        guard let cursor = try? Cursor(String(entityTag.dropFirst().dropLast())) else { return nil }
        self = cursor
    }
}
