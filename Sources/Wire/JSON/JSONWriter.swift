/// Writes JSON into one growing buffer, and adds the commas.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.member("revision", 1043)
/// writer.endObject()
/// writer.bytes        // {"revision":1043}
/// ```
package struct JSONWriter: Sendable {
    /// The bytes that have been written so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// - Parameter capacity: the number of bytes to have ready.
    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// Makes room for that many bytes more. Without it a large message grows by doubling: each step takes fresh memory, and copies
    /// all that is written. A list of 4 MiB took 8 ms so, and takes 5.
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

    // MARK: Structure

    /// `{`
    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// `}`
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    /// `[`
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// `]`
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// The name of the value that follows. It must need no escape, as all names of the wire.
    package mutating func member(_ name: StaticString) {
        ASCIIWriter.append(to: &bytes, capacity: name.utf8CodeUnitCount + 4) { [needsComma] in Self.begin(name, after: needsComma, &$0) }
        needsComma = false
    }

    /// Writes the name with its punctuation, in one piece with the value that follows: each addition to the bytes has a
    /// separate cost.
    @inline(__always)
    private static func begin(_ name: StaticString, after needsComma: Bool, _ writer: inout ASCIIWriter) {
        if needsComma { writer.write(UInt8(ascii: ",")) }
        writer.write(UInt8(ascii: "\""))
        writer.write(name)
        writer.write(UInt8(ascii: "\""))
        writer.write(UInt8(ascii: ":"))
    }

    /// A name that is known only at run time, escaped as a string is.
    package mutating func member(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    /// A string, with the escapes that RFC 8259 demands and no others.
    package mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        escape(text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A key as a string: `"collection/id"`.
    mutating func key(_ key: RecordKey) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        // A collection's alphabet needs no escape.
        bytes.append(contentsOf: key.collection.utf8)
        bytes.append(UInt8(ascii: "/"))
        escape(key.id)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A position as a string. Its alphabet needs no escape.
    mutating func cursor(_ cursor: Cursor) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        cursor.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: String) {
        var text = text
        text.withUTF8 { text in
            // Bytes that need no escape are copied in one piece.
            var start = 0
            for index in text.indices {
                let byte = text[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
                start = index + 1
                appendEscape(of: byte)
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        }
    }

    private mutating func appendEscape(of byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: Array("u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]])
        default: bytes.append(byte)
        }
    }

    /// A whole number.
    package mutating func integer(_ value: Int64) {
        separate()
        bytes.append(decimal: value)
    }

    /// `true` or `false`.
    package mutating func boolean(_ value: Bool) { raw(value ? "true" : "false") }

    /// `null`.
    package mutating func null() { raw("null") }

    /// A value that is JSON already.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// A literal that is JSON already.
    package mutating func raw(_ json: StaticString) {
        raw(UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    // MARK: Members with their values

    /// A member that is a string.
    package mutating func member(_ name: StaticString, _ text: String) {
        member(name)
        string(text)
    }

    /// A member that is a whole number.
    package mutating func member(_ name: StaticString, _ value: Int64) {
        ASCIIWriter.append(to: &bytes, capacity: name.utf8CodeUnitCount + 24) { [needsComma] in
            Self.begin(name, after: needsComma, &$0)
            $0.decimal(value)
        }
        needsComma = true
    }

    /// A member that is a record's key.
    mutating func member(_ name: StaticString, _ key: RecordKey) {
        member(name)
        self.key(key)
    }

    /// A member that is a word of the protocol, which needs no escape.
    mutating func member(_ name: StaticString, word: StaticString) {
        ASCIIWriter.append(to: &bytes, capacity: name.utf8CodeUnitCount + word.utf8CodeUnitCount + 6) { [needsComma] in
            Self.begin(name, after: needsComma, &$0)
            $0.write(UInt8(ascii: "\""))
            $0.write(word)
            $0.write(UInt8(ascii: "\""))
        }
        needsComma = true
    }

    /// A member that is `true` or `false`.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        member(name)
        boolean(value)
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

extension [UInt8] {
    /// Adds the digits of a whole number, with a minus before those of a negative one.
    mutating func append(decimal value: Int64) {
        ASCIIWriter.append(to: &self, capacity: 20) { $0.decimal(value) }
    }
}
