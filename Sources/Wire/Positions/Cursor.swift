/// A position in a namespace's order of writes: `<epoch>-<revision>`. Opaque to clients; every response about a namespace carries one.
///
/// A reader that began from nothing and has not come through yet gets `<epoch>-<revision>-<origin>`.
public struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// The history that the position belongs to.
    public let epoch: Epoch
    /// The last revision that the position includes.
    public let revision: Revision
    /// The head at which a reading from nothing began, until it has come through.
    ///
    /// Such a reader holds nothing that was deleted before it began, so deletes up to there may be forgotten without its cursor expiring.
    public let origin: Revision?

    /// The position after `revision` in the history `epoch`.
    public init(epoch: Epoch, revision: Revision, origin: Revision? = nil) {
        self.epoch = epoch
        self.revision = revision
        self.origin = origin
    }

    /// - Throws: ``WireError/invalidCursor(_:)``.
    public init(_ text: String) throws(WireError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let epoch = Epoch(String(parts[0])), let revision = Self.revision(parts[1]) else {
            throw .invalidCursor(text)
        }
        let origin = parts.count == 3 ? Self.revision(parts[2]) : nil
        guard origin != nil || parts.count == 2 else { throw .invalidCursor(text) }
        self.init(epoch: epoch, revision: revision, origin: origin)
    }

    /// Digits alone, without sign or leading zero, so that one position has one spelling.
    private static func revision(_ digits: Substring) -> Revision? {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits == "0" || digits.utf8.first != 0x30 else { return nil }
        return Int64(digits).flatMap(Revision.init)
    }

    /// `<epoch>-<revision>`, and `-<origin>` where there is one.
    public var description: String { "\(epoch.token)-\(revision.number)" + (origin.map { "-\($0.number)" } ?? "") }

    /// The strong entity tag of a record whose last write has this position: `"<epoch>-<revision>"` (RFC 9110 §8.8.3).
    public var entityTag: String { "\"\(epoch.token)-\(revision.number)\"" }

    /// Reads an entity tag as ``entityTag`` writes it; `nil` for any other, weak ones included.
    public init?(entityTag: some StringProtocol) {
        guard entityTag.utf8.count > 2, entityTag.first == "\"", entityTag.last == "\"" else { return nil }
        guard let cursor = try? Cursor(String(entityTag.dropFirst().dropLast())), cursor.origin == nil else { return nil }
        self = cursor
    }
}
