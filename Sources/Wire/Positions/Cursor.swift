/// A position in a namespace's order of writes: `<epoch>-<revision>`. Opaque to clients; every response about a namespace carries one.
///
/// A reader that started from nothing gets `<epoch>-<revision>-<origin>` until it has reached the origin. A reader that may
/// not read everything gets `<epoch>-<revision>-<origin>-<rights>`, with the origin `0` once it has reached its own.
///
/// Behind a shared cache, `.<turn>` follows in responses that found no change, so that the next request differs from the last.
public struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// The history that the position belongs to.
    public let epoch: Epoch
    /// The last revision that the position includes.
    public let revision: Revision
    /// The head at which a reader started from nothing, until the reader has reached it.
    ///
    /// Such a reader has no record that was deleted before it started, so deletes up to there may be forgotten without
    /// its cursor expiring.
    public let origin: Revision?

    /// The records that the reader may read; `nil` for all.
    public let rights: RightsDigest?

    /// Distinguishes the requests of readers that wait at one position behind a shared cache, at least 1; `nil` for none. It is
    /// not a part of the position: the server decides nothing by it.
    public let turn: UInt32?

    /// The position after `revision` in the history `epoch`.
    public init(epoch: Epoch, revision: Revision, origin: Revision? = nil, rights: RightsDigest? = nil, turn: UInt32? = nil) {
        self.epoch = epoch
        self.revision = revision
        self.origin = origin
        self.rights = rights
        self.turn = turn
    }

    /// - Throws: ``WireError/invalidCursor(_:)``.
    public init(_ text: String) throws(WireError) {
        var bytes = text
        guard let cursor = bytes.withUTF8({ Cursor(utf8: $0[...]) }) else { throw .invalidCursor(text) }
        self = cursor
    }

    /// Reads bytes and not `Character`s, which would take ten times as long for each poll.
    init?(utf8 whole: Slice<UnsafeBufferPointer<UInt8>>) {
        let end = whole.firstIndex(of: Self.dot) ?? whole.endIndex
        let text = whole[..<end]
        var turn: UInt32?
        if end < whole.endIndex {
            guard let number = Self.revision(whole[(end + 1)...]), let small = UInt32(exactly: number.number), small > 0 else { return nil }
            turn = small
        }
        guard let epochEnd = text.firstIndex(of: Self.hyphen), let epoch = Epoch(String(decoding: text[..<epochEnd], as: UTF8.self)) else {
            return nil
        }
        let numbers = text[(epochEnd + 1)...]
        let revisionEnd = numbers.firstIndex(of: Self.hyphen) ?? numbers.endIndex
        guard let revision = Self.revision(numbers[..<revisionEnd]) else { return nil }
        guard revisionEnd < numbers.endIndex else {
            self.init(epoch: epoch, revision: revision, turn: turn)
            return
        }
        let rest = numbers[(revisionEnd + 1)...]
        let originEnd = rest.firstIndex(of: Self.hyphen) ?? rest.endIndex
        guard let origin = Self.revision(rest[..<originEnd]) else { return nil }
        guard originEnd < rest.endIndex else {
            self.init(epoch: epoch, revision: revision, origin: origin, turn: turn)
            return
        }
        guard let rights = RightsDigest(utf8: rest[(originEnd + 1)...]) else { return nil }
        self.init(epoch: epoch, revision: revision, origin: origin == .zero ? nil : origin, rights: rights, turn: turn)
    }

    /// Whether the two are one position, whatever their turns.
    package func isPosition(of other: Cursor?) -> Bool {
        guard let other else { return false }
        return epoch == other.epoch && revision == other.revision && origin == other.origin && rights == other.rights
    }

    private static let hyphen = UInt8(ascii: "-")
    private static let dot = UInt8(ascii: ".")

    /// Digits alone, without sign or leading zero, so that one position has one spelling.
    private static func revision(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Revision? {
        guard let first = digits.first, first != UInt8(ascii: "0") || digits.count == 1 else { return nil }
        var number: Int64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), number <= Revision.maximum.number else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return Revision(number)
    }

    /// `<epoch>-<revision>`, and `-<origin>`, `-<rights>` and `.<turn>` where there are any.
    public var description: String { ASCIIWriter.text(capacity: Self.longest) { $0.write(whole: self) } }

    /// Appends ``description`` without making a string of it.
    package func append(to bytes: inout [UInt8]) { ASCIIWriter.append(to: &bytes, capacity: Self.longest) { $0.write(whole: self) } }

    /// The strong entity tag of a record whose last write has this position: `"<epoch>-<revision>"` (RFC 9110 §8.8.3).
    package var entityTag: String { ASCIIWriter.text(capacity: Self.longest) { $0.write(entityTagOf: self) } }

    /// Appends ``entityTag`` without making a string of it.
    package func appendEntityTag(to bytes: inout [UInt8]) {
        ASCIIWriter.append(to: &bytes, capacity: Self.longest) { $0.write(entityTagOf: self) }
    }

    /// An epoch of 32 letters, two revisions of 16 digits, a digest and a turn of 10 digits, with their separators.
    private static let longest = 32 + 2 * (1 + 16) + 1 + RightsDigest.count + 1 + 10

    /// Reads an entity tag as ``entityTag`` writes it; `nil` for any other, weak ones included.
    package init?(entityTag: some StringProtocol) {
        guard entityTag.utf8.count > 2, entityTag.first == "\"", entityTag.last == "\"" else { return nil }
        guard let cursor = try? Cursor(String(entityTag.dropFirst().dropLast())), cursor.origin == nil, cursor.rights == nil,
            cursor.turn == nil
        else {
            return nil
        }
        self = cursor
    }
}

extension ASCIIWriter {
    fileprivate mutating func write(whole cursor: Cursor) {
        write(cursor)
        if cursor.origin != nil || cursor.rights != nil {
            write(UInt8(ascii: "-"))
            write(cursor.origin?.number ?? 0)
        }
        if let rights = cursor.rights {
            write(UInt8(ascii: "-"))
            for letter in rights.bytes { write(letter) }
        }
        guard let turn = cursor.turn else { return }
        write(UInt8(ascii: "."))
        write(Int64(turn))
    }

    fileprivate mutating func write(entityTagOf cursor: Cursor) {
        write(UInt8(ascii: "\""))
        write(cursor)
        write(UInt8(ascii: "\""))
    }

    /// The position without its origin.
    private mutating func write(_ cursor: Cursor) {
        write(cursor.epoch.token)
        write(UInt8(ascii: "-"))
        write(cursor.revision.number)
    }
}
