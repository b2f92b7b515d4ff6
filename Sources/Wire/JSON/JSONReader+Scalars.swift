extension JSONReader {
    /// A string, its escapes resolved.
    package mutating func string() throws(WireError) -> String {
        let inner = try innerRange()
        if hasEscapes { return try unescape(inner) }
        return withBytes(inner) { String(decoding: $0, as: UTF8.self) }
    }

    /// A string to be compared with words of the protocol.
    mutating func word() throws(WireError) -> JSONName { try word(try innerRange()) }

    /// The string that was skipped last, without its quotes.
    mutating func word(_ inner: Range<Int>) throws(WireError) -> JSONName {
        if hasEscapes { return JSONName(try unescape(inner)) }
        return withBytes(inner) { JSONName($0) }
    }

    /// A record's key, `collection/id`.
    mutating func key() throws(WireError) -> RecordKey {
        let inner = try innerRange()
        if hasEscapes { return try RecordKey(unescape(inner)) }
        if let key = withBytes(inner, { RecordKey(utf8: $0) }) { return key }
        // Throws an error that names the rule which the key breaks.
        return try RecordKey(withBytes(inner) { String(decoding: $0, as: UTF8.self) })
    }

    /// Skips a string and returns the range between its quotes.
    mutating func innerRange() throws(WireError) -> Range<Int> {
        let range = try stringRange()
        return (range.lowerBound + 1)..<(range.upperBound - 1)
    }

    private mutating func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// A whole number within `Int64`. One that is written with a fraction or an exponent, such as `3.0`, is a whole number too
    /// (RFC 7493 §2.2), as long as a `Double` holds each whole number: below 2^53.
    package mutating func integer() throws(WireError) -> Int64 {
        if let value = fewDigits() { return value }
        let range = try literalRange()
        let literal = String(decoding: bytes[range], as: UTF8.self)
        guard let value = Int64(literal) ?? Self.wholeNumber(literal) else {
            throw .unexpectedJSON("\(literal.shortened) is no whole number of 64 bits")
        }
        return value
    }

    /// Takes a number of at most 18 digits, as most are, in one pass; `nil`, and takes nothing, for all others: 18 digits
    /// cannot overflow.
    private mutating func fewDigits() -> Int64? {
        guard let first = peek() else { return nil }
        let digits = position + (first == UInt8(ascii: "-") ? 1 : 0)
        let end = min(bytes.count, digits + 18)
        var index = digits
        var value: Int64 = 0
        while index < end, (0x30...0x39).contains(bytes[index]) {
            value = value * 10 + Int64(bytes[index] - 0x30)
            index += 1
        }
        guard index > digits, index < bytes.count, index == digits + 1 || bytes[digits] != UInt8(ascii: "0") else { return nil }
        switch bytes[index] {
        case 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
        default: break
        }
        position = index
        return first == UInt8(ascii: "-") ? -value : value
    }

    private static func wholeNumber(_ literal: String) -> Int64? {
        guard let value = Double(literal), value.magnitude < 0x1p53 else { return nil }
        return Int64(exactly: value)
    }

    /// A number as it is written.
    package mutating func number() throws(WireError) -> String {
        String(decoding: bytes[try literalRange()], as: UTF8.self)
    }

    private mutating func literalRange() throws(WireError) -> Range<Int> {
        guard let byte = peek(), byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) else { throw unexpected("a number") }
        return try numberRange()
    }

    /// `true` or `false`.
    package mutating func boolean() throws(WireError) -> Bool {
        switch peek() {
        case UInt8(ascii: "t"):
            try literal("true")
            return true
        case UInt8(ascii: "f"):
            try literal("false")
            return false
        default: throw unexpected("true or false")
        }
    }

    /// Takes a `null` if one is next, and returns whether it did.
    package mutating func takeNull() throws(WireError) -> Bool {
        guard peek() == UInt8(ascii: "n") else { return false }
        try literal("null")
        return true
    }

    mutating func literal(_ text: StaticString) throws(WireError) {
        let count = text.utf8CodeUnitCount
        guard position + count <= bytes.count else { throw fail("the input ends too soon") }
        for index in 0..<count where bytes[position + index] != text.utf8Start[index] {
            throw fail("no value begins like this; \(text) perhaps?")
        }
        position += count
    }

    /// The range of a string with its quotes: grammar and UTF-8 checked.
    mutating func stringRange() throws(WireError) -> Range<Int> {
        guard peek() == UInt8(ascii: "\"") else { throw unexpected("a string") }
        let start = position
        var index = position + 1
        var isASCII = true
        hasEscapes = false
        while index < bytes.count {
            index = plainEnd(from: index)
            guard index < bytes.count else { break }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                if !isASCII { try checkUTF8(start..<index) }
                position = index + 1
                return start..<position
            case UInt8(ascii: "\\"):
                hasEscapes = true
                index = try escape(at: index)
            case 0..<0x20:
                position = index
                throw fail("a control character in a string must be escaped")
            case let byte:
                if byte >= 0x80 { isASCII = false }
                index += 1
            }
        }
        position = bytes.count
        throw fail("a string has no end")
    }

    /// The first index from `index` on of a quote, a backslash, a control character or a byte beyond ASCII; the end if
    /// there is none.
    private mutating func plainEnd(from index: Int) -> Int {
        bytes.withUnsafeBytes { bytes in
            var index = index
            // Eight bytes at once: the top bit of each marks a find. A subtraction may carry only beyond a byte that is
            // found anyway.
            while index + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let quote = word ^ (Self.ones &* 0x22)
                let backslash = word ^ (Self.ones &* 0x5C)
                let found =
                    (word | (word &- Self.ones &* 0x20) | ((quote &- Self.ones) & ~quote) | ((backslash &- Self.ones) & ~backslash))
                    & (Self.ones &* 0x80)
                if found != 0 { return index + found.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < bytes.count {
                let byte = bytes[index]
                if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
                index += 1
            }
            return index
        }
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    private mutating func checkUTF8(_ range: Range<Int>) throws(WireError) {
        do {
            _ = try UTF8Span(validating: bytes.span.extracting(range))
        } catch {
            position = range.lowerBound + error.byteOffsets.lowerBound
            throw fail("a string is not UTF-8")
        }
    }

    /// The index after the escape that begins at `index`.
    private mutating func escape(at index: Int) throws(WireError) -> Int {
        position = index
        guard index + 1 < bytes.count else { throw fail("a string has no end") }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return index + 2
        case UInt8(ascii: "u"):
            guard index + 6 <= bytes.count, let unit = hexadecimal(at: index + 2) else { throw fail("\\u takes four hexadecimal digits") }
            guard profile == .interoperable, (0xD800..<0xE000).contains(unit) else { return index + 6 }
            return try escapedScalar(at: index, end: bytes.count).1
        default: throw fail("no escape begins like this")
        }
    }

    private mutating func hexadecimal(at index: Int) -> UInt32? {
        var value: UInt32 = 0
        for byte in bytes[index..<(index + 4)] {
            switch byte {
            case 0x30...0x39: value = value << 4 | UInt32(byte - 0x30)
            case 0x41...0x46: value = value << 4 | UInt32(byte - 0x41 + 10)
            case 0x61...0x66: value = value << 4 | UInt32(byte - 0x61 + 10)
            default: return nil
            }
        }
        return value
    }

    /// The grammar was checked by ``stringRange()``; only lone surrogates can still be wrong, in the profile that
    /// allows them.
    mutating func unescape(_ range: Range<Int>) throws(WireError) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                output.append(bytes[index])
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0C)
            case UInt8(ascii: "n"): output.append(0x0A)
            case UInt8(ascii: "r"): output.append(0x0D)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "u"):
                let (scalar, next) = try escapedScalar(at: index, end: range.upperBound)
                output.append(contentsOf: Array(String(Character(scalar)).utf8))
                index = next
                continue
            case let byte: output.append(byte)
            }
            index += 2
        }
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func escapedScalar(at index: Int, end: Int) throws(WireError) -> (Unicode.Scalar, Int) {
        let lone = WireError.invalidJSON(offset: index, reason: "a \\u escape is half of a surrogate pair")
        guard let unit = hexadecimal(at: index + 2) else { throw lone }
        if let scalar = Unicode.Scalar(unit) { return (scalar, index + 6) }
        guard unit < 0xDC00, index + 12 <= end, bytes[index + 6] == UInt8(ascii: "\\"), bytes[index + 7] == UInt8(ascii: "u"),
            let low = hexadecimal(at: index + 8), (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw lone }
        return (scalar, index + 12)
    }

    /// The range of a number: an optional minus, digits without a leading zero, then fraction and exponent if any.
    mutating func numberRange() throws(WireError) -> Range<Int> {
        let start = position
        func digits(_ reader: inout JSONReader) throws(WireError) {
            let first = reader.position
            while reader.position < reader.bytes.count, (0x30...0x39).contains(reader.bytes[reader.position]) { reader.position += 1 }
            guard reader.position > first else { throw reader.fail("a number lacks a digit") }
        }
        func take(_ reader: inout JSONReader, _ candidates: UInt8...) -> Bool {
            guard reader.position < reader.bytes.count, candidates.contains(reader.bytes[reader.position]) else { return false }
            reader.position += 1
            return true
        }
        _ = take(&self, UInt8(ascii: "-"))
        if take(&self, UInt8(ascii: "0")) {
            if position < bytes.count, (0x30...0x39).contains(bytes[position]) { throw fail("a number begins with a needless zero") }
        } else {
            try digits(&self)
        }
        if take(&self, UInt8(ascii: ".")) { try digits(&self) }
        if take(&self, UInt8(ascii: "e"), UInt8(ascii: "E")) {
            _ = take(&self, UInt8(ascii: "+"), UInt8(ascii: "-"))
            try digits(&self)
        }
        return start..<position
    }
}
