import Glibc

/// A set of ASCII bytes in two words: a test is a shift and a mask, with no table in memory.
struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        guard byte < 128 else { return false }
        return ((byte < 64 ? low : high) >> UInt64(byte & 63)) & 1 != 0
    }

    // The words are written out so that the compiler lays the sets down as constants; made at run time, each use would first
    // ask whether they are made. `ByteSetTests` spells out their members.

    /// `tchar`, RFC 9110 §5.6.2.
    static let token = ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    /// The characters of a request target: RFC 3986's, and those that browsers leave unescaped in a query (WHATWG URL).
    static let target = ByteSet(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
    /// `uri-host [ ":" port ]`, RFC 3986 §3.2.2: the characters, not their order.
    static let host = ByteSet(low: 0x2FFF_7FF2_0000_0000, high: 0x47FF_FFFE_AFFF_FFFE)
}

extension UInt8 {
    /// `field-vchar`, space or tab, RFC 9110 §5.5: no control bytes.
    @inline(__always)
    var isFieldContent: Bool { self >= 0x20 ? self != 0x7F : self == .tab }

    @inline(__always)
    var isDigit: Bool { self &- 0x30 < 10 }

    /// The value of a hexadecimal digit, in either case.
    @inline(__always)
    var hexadecimalValue: UInt8? {
        let digit = self &- 0x30
        if digit < 10 { return digit }
        let letter = (self | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// ASCII letters in lower case; every other byte as it is.
    @inline(__always)
    var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
}

extension Span<UInt8> {
    /// Whether the bytes in `range` equal `text`, which is in lower case, without regard to case.
    @inline(__always)
    func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { expected in
            for offset in 0..<expected.count where self[range.lowerBound + offset].lowercased != expected[offset] {
                return false
            }
            return true
        }
    }

    /// Whether `text`, which is in lower case, occurs in the bytes, without regard to case.
    func contains(_ text: StaticString) -> Bool {
        var end = text.utf8CodeUnitCount
        while end <= count {
            if matches((end - text.utf8CodeUnitCount)..<end, text) { return true }
            end += 1
        }
        return false
    }

    /// The index of the first `byte` within `range`, which must lie within the span.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        withUnsafeBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[range])
            guard let base = bytes.baseAddress, let found = memchr(base, Int32(byte), bytes.count) else { return nil }
            return range.lowerBound + (UnsafeRawPointer(found) - base)
        }
    }

    /// `range` without spaces and tabs at either end.
    func trimming(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start] == .space || self[start] == .tab { start += 1 }
        while end > start, self[end - 1] == .space || self[end - 1] == .tab { end -= 1 }
        return start..<end
    }

    /// A copy of the bytes in `range`.
    func copy(_ range: Range<Int>) -> [UInt8] {
        withUnsafeBytes { Array(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
