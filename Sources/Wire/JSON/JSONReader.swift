/// Reads JSON (RFC 8259) from bytes, one token after another, and returns values as their bytes.
///
/// Records cross Freshet as bytes and are never decoded on the way. `Codable` cannot leave a part of a document
/// undecoded, hence this reader. Strict: UTF-8 only, no trailing commas, no comments. A ``Profile`` decides whether the
/// reader also refuses JSON that other readers interpret in different ways.
///
/// ```swift
/// var reader = JSONReader(bytes)
/// try reader.beginObject()
/// while let name = try reader.nextMember() {
///     switch name {
///     case "key": key = try reader.string()
///     default: try reader.skip()
///     }
/// }
/// try reader.end()
/// ```
package struct JSONReader: Sendable {
    /// The JSON that a reader accepts.
    package enum Profile: Hashable, Sendable {
        /// All of RFC 8259, at any depth, for data from a server: a value that was stored under earlier rules stays
        /// readable.
        case json
        /// I-JSON (RFC 7493): no lone surrogate (§2.1), no member's name twice in an object (§2.3), and at most
        /// ``JSONReader/maximumDepth`` levels. For requests and for everything that is stored.
        case interoperable
    }

    /// The deepest nesting of a value that is stored. A value that is no array and no object has one level.
    package static let maximumDepth = 256

    let bytes: [UInt8]
    /// The JSON that the reader accepts.
    package let profile: Profile
    /// The place of the next byte to read.
    package internal(set) var position = 0
    /// Set between the opening bracket of an array or object and its first entry.
    var isAtFirst = false
    /// Whether the string that was skipped last has escapes.
    var hasEscapes = false
    /// The names in the open objects; empty unless the profile refuses duplicates.
    private var names = MemberNames()

    /// Begins at the first of `bytes`.
    package init(_ bytes: [UInt8], profile: Profile = .json) {
        self.bytes = bytes
        self.profile = profile
    }

    /// Begins at the byte at `position`, without a copy of the others. Places count from the first of `bytes`.
    package init(_ bytes: [UInt8], from position: Int) {
        self.init(bytes)
        self.position = position
    }

    // MARK: Places

    /// A place before a value, to which the reader can go back.
    package struct Mark: Sendable {
        fileprivate let position: Int
        fileprivate let isAtFirst: Bool
        fileprivate let openObjects: Int
    }

    /// The present place. Unlike a copy of the reader, it takes no names along.
    package var mark: Mark { Mark(position: position, isAtFirst: isAtFirst, openObjects: names.openObjects) }

    /// Goes back to a place in an object that is still open, or in none.
    package mutating func rewind(to mark: Mark) {
        position = mark.position
        isAtFirst = mark.isAtFirst
        while names.openObjects > mark.openObjects { names.close() }
    }

    /// How many elements may follow in an array whose first one has `length` bytes: an estimate, for the capacity of an
    /// array, of at most 1,000.
    func estimatedCount(ofElementsWith length: Int) -> Int { min(1_000, (bytes.count - position) / max(1, length) + 1) }

    // MARK: Structure

    /// Enters an object.
    package mutating func beginObject() throws(WireError) {
        try begin(UInt8(ascii: "{"), "an object")
        if profile == .interoperable { names.open() }
    }

    /// The next member's name, its value yet to be read; `nil` when the object has ended and was left.
    package mutating func nextMember() throws(WireError) -> JSONName? {
        guard let inner = try memberName() else { return nil }
        let name = try word(inner)
        try expect(UInt8(ascii: ":"), "a colon after the member's name")
        return name
    }

    /// As ``nextMember()``, for a caller that does not want the name.
    mutating func hasNextMember() throws(WireError) -> Bool {
        guard try memberName() != nil else { return false }
        try expect(UInt8(ascii: ":"), "a colon after the member's name")
        return true
    }

    /// The range of the next member's name between its quotes; `nil` when the object has ended and was left.
    private mutating func memberName() throws(WireError) -> Range<Int>? {
        guard try hasNext(before: UInt8(ascii: "}")) else {
            if profile == .interoperable { names.close() }
            return nil
        }
        let inner = try innerRange()
        guard profile == .interoperable else { return inner }
        let escaped = hasEscapes ? try unescape(inner) : nil
        guard names.insert(inner, escaped, in: bytes) else {
            let name = try word(inner).text.shortened
            throw .invalidJSON(offset: inner.lowerBound - 1, reason: "an object has the member '\(name)' twice; name it once")
        }
        return inner
    }

    /// Enters an array.
    package mutating func beginArray() throws(WireError) { try begin(UInt8(ascii: "["), "an array") }

    /// Whether another element follows; `false` when the array has ended and was left.
    package mutating func nextElement() throws(WireError) -> Bool { try hasNext(before: UInt8(ascii: "]")) }

    /// Throws unless only white space remains.
    package mutating func end() throws(WireError) {
        skipSpace()
        guard position == bytes.count else { throw fail("something follows the end of the value") }
    }

    private mutating func begin(_ bracket: UInt8, _ what: String) throws(WireError) {
        guard peek() == bracket else { throw unexpected(what) }
        position += 1
        isAtFirst = true
    }

    private mutating func hasNext(before bracket: UInt8) throws(WireError) -> Bool {
        let first = isAtFirst
        isAtFirst = false
        guard let byte = peek() else { throw fail("the input ends too soon") }
        if byte == bracket {
            position += 1
            return false
        }
        guard !first else { return true }
        try expect(UInt8(ascii: ","), "a comma or the closing bracket")
        guard peek() != bracket else { throw fail("a comma stands before the closing bracket") }
        return true
    }

    private mutating func expect(_ byte: UInt8, _ what: String) throws(WireError) {
        guard peek() == byte else { throw fail("\(what) is missing") }
        position += 1
    }

    // MARK: Shared by all extensions

    /// The next byte that is not white space, not yet taken.
    @inline(__always)
    mutating func peek() -> UInt8? {
        // Mostly there is none to skip.
        if position < bytes.count, bytes[position] > 0x20 { return bytes[position] }
        skipSpace()
        return position < bytes.count ? bytes[position] : nil
    }

    @inline(never)
    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    func fail(_ reason: String) -> WireError { .invalidJSON(offset: position, reason: reason) }

    /// The error for well-formed input of another kind than this place takes, or the error of ill-formed input.
    mutating func unexpected(_ what: String) -> WireError {
        guard let byte = peek() else { return fail("the input ends where \(what) belongs") }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .unexpectedJSON("at byte \(position) of the JSON stands something else than \(what)")
        default: return fail("no value begins with this byte")
        }
    }
}
