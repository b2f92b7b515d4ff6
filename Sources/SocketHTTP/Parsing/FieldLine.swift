/// One field line, RFC 9112 §5, as ranges of the bytes it was parsed from.
struct FieldLine {
    let name: Range<Int>
    let value: Range<Int>

    /// Parses and checks the line in `range`, which excludes its CRLF.
    init(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestFailure) {
        var index = range.lowerBound
        while index < range.upperBound, ByteSet.token.contains(bytes[index]) { index += 1 }
        guard index < range.upperBound, bytes[index] == UInt8(ascii: ":"), index > range.lowerBound else {
            throw FieldLine.nameFailure(bytes, range, at: index)
        }
        name = range.lowerBound..<index
        index += 1
        value = bytes.trimming(index..<range.upperBound)
        for index in index..<range.upperBound where !bytes[index].isFieldContent {
            throw RequestFailure(.malformed, "A field value holds a control byte")
        }
    }

    private static func nameFailure(_ bytes: Span<UInt8>, _ range: Range<Int>, at index: Int) -> RequestFailure {
        guard index < range.upperBound else { return RequestFailure(.malformed, "A field line has no colon") }
        let isBlank = bytes[index] == .space || bytes[index] == .tab
        if isBlank, index == range.lowerBound { return RequestFailure(.malformed, "A field line is folded") }
        if isBlank { return RequestFailure(.malformed, "There is white space before a field's colon") }
        return RequestFailure(.malformed, "A field name is not a token")
    }
}

/// The value of a list-valued field, RFC 9110 §5.6.1, member by member; empty members are skipped.
struct FieldList {
    private var rest: Range<Int>

    init(_ value: Range<Int>) {
        rest = value
    }

    mutating func next(_ bytes: Span<UInt8>) -> Range<Int>? {
        while !rest.isEmpty {
            let end = bytes.firstIndex(of: UInt8(ascii: ","), in: rest) ?? rest.upperBound
            let member = bytes.trimming(rest.lowerBound..<end)
            rest = min(end + 1, rest.upperBound)..<rest.upperBound
            if !member.isEmpty { return member }
        }
        return nil
    }
}
