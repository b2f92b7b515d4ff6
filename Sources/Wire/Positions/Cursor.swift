/// A position in a namespace's order of writes: `<epoch>-<revision>`. Opaque to clients; every response about a namespace carries one.
///
/// A third part is the position's ``goal``: `<epoch>-<revision>-<origin>` or `<epoch>-<revision>-h<head>`. A reader that may
/// not read everything gets `<epoch>-<revision>-<goal>-<rights>`, with the goal `0` if it has none.
///
/// Behind a shared cache, `.<turn>` follows in responses that found no change, so that the next request differs from the last.
public struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// The history that the position belongs to.
    public let epoch: Epoch
    /// The last revision that the position includes.
    public let revision: Revision
    /// What the reader must reach before it has everything up to its position; `nil` if it has.
    public let goal: Goal?

    /// The records that the reader may read; `nil` for all.
    public let rights: RightsDigest?

    /// Distinguishes the requests of readers that wait at one position behind a shared cache, at least 1; `nil` for none. It is
    /// not a part of the position: the server decides nothing by it.
    public let turn: UInt32?

    /// A revision beyond the position that a reader must reach.
    public enum Goal: Hashable, Sendable {
        /// The head at which a reader started from nothing.
        ///
        /// Such a reader has no record that was deleted before it started, so deletes up to there may be forgotten without
        /// its cursor expiring.
        case origin(Revision)
        /// The head at which the reader got a page that was not the last.
        ///
        /// A page leaves out each change that a later one replaces. A server that does not have the later one yet must
        /// not call a page for this reader the last.
        case head(Revision)

        /// The revision to be reached.
        package var revision: Revision {
            switch self {
            case .origin(let revision), .head(let revision): revision
            }
        }
    }

    /// The head at which a reader started from nothing, until it has reached it; `nil` for other readers.
    package var origin: Revision? {
        if case .origin(let revision)? = goal { revision } else { nil }
    }

    /// The position after `revision` in the history `epoch`.
    public init(epoch: Epoch, revision: Revision, goal: Goal? = nil, rights: RightsDigest? = nil, turn: UInt32? = nil) {
        self.epoch = epoch
        self.revision = revision
        self.goal = goal
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
        let goalEnd = rest.firstIndex(of: Self.hyphen) ?? rest.endIndex
        guard let goal = Self.goal(rest[..<goalEnd]) else { return nil }
        guard goalEnd < rest.endIndex else {
            self.init(epoch: epoch, revision: revision, goal: goal, turn: turn)
            return
        }
        guard let rights = RightsDigest(utf8: rest[(goalEnd + 1)...]) else { return nil }
        self.init(epoch: epoch, revision: revision, goal: goal == .origin(.zero) ? nil : goal, rights: rights, turn: turn)
    }

    /// Whether the two are one position, whatever their turns.
    package func isPosition(of other: Cursor?) -> Bool {
        guard let other else { return false }
        return epoch == other.epoch && revision == other.revision && goal == other.goal && rights == other.rights
    }

    /// The position as a reader with these rights gets it, without a turn.
    package func with(rights: RightsDigest?) -> Cursor { Cursor(epoch: epoch, revision: revision, goal: goal, rights: rights) }

    /// The same position with another turn.
    package func with(turn: UInt32) -> Cursor { Cursor(epoch: epoch, revision: revision, goal: goal, rights: rights, turn: turn) }

    private static func goal(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Goal? {
        guard text.first == headMark else { return revision(text).map { .origin($0) } }
        return revision(text.dropFirst()).map { .head($0) }
    }

    private static let hyphen = UInt8(ascii: "-")
    fileprivate static let headMark = UInt8(ascii: "h")
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

    /// `<epoch>-<revision>`, and `-<goal>`, `-<rights>` and `.<turn>` where there are any.
    public var description: String { ASCIIWriter.text(capacity: Self.longest) { $0.write(whole: self) } }

    /// Appends ``description`` without making a string of it.
    package func append(to bytes: inout [UInt8]) { ASCIIWriter.append(to: &bytes, capacity: Self.longest) { $0.write(whole: self) } }

    /// The strong entity tag of a record whose last write has this position: `"<epoch>-<revision>"` (RFC 9110 §8.8.3).
    package var entityTag: String { ASCIIWriter.text(capacity: Self.longest) { $0.write(entityTagOf: self) } }

    /// Appends ``entityTag`` without making a string of it.
    package func appendEntityTag(to bytes: inout [UInt8]) {
        ASCIIWriter.append(to: &bytes, capacity: Self.longest) { $0.write(entityTagOf: self) }
    }

    /// An epoch of 32 letters, two revisions of 16 digits, one with a mark, a digest and a turn of 10 digits, with their separators.
    private static let longest = 32 + 2 * (1 + 16) + 1 + 1 + RightsDigest.count + 1 + 10

    /// Reads an entity tag as ``entityTag`` writes it; `nil` for any other, weak ones included.
    package init?(entityTag: some StringProtocol) {
        let (bytes, quote) = (Array(entityTag.utf8), UInt8(ascii: "\""))
        guard bytes.count > 2, bytes.first == quote, bytes.last == quote else { return nil }
        let text = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
        guard let cursor = try? Cursor(text), cursor.goal == nil, cursor.rights == nil,
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
        if cursor.goal != nil || cursor.rights != nil {
            write(UInt8(ascii: "-"))
            if case .head? = cursor.goal { write(Cursor.headMark) }
            write(cursor.goal?.revision.number ?? 0)
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

    /// Epoch and revision alone.
    private mutating func write(_ cursor: Cursor) {
        write(cursor.epoch.token)
        write(UInt8(ascii: "-"))
        write(cursor.revision.number)
    }
}
