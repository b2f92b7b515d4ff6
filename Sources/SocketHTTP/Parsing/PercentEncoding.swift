/// Percent-encoding, RFC 3986 §2.1, over bytes.
enum PercentEncoding {
    /// Refuses a bad escape, `%00`, and escapes that are not UTF-8. Text that passes can be decoded without failing.
    static func check(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestFailure) {
        guard let first = bytes.firstIndex(of: percent, in: range) else { return }
        guard let decoded = decode(bytes, first..<range.upperBound) else {
            throw RequestFailure(.malformed, "The request target holds a \"%\" that two hexadecimal digits do not follow")
        }
        guard !decoded.contains(0) else { throw RequestFailure(.malformed, "The request target holds %00") }
        guard String(validating: decoded, as: UTF8.self) != nil else {
            throw RequestFailure(.malformed, "The request target is not UTF-8 once it is decoded")
        }
    }

    /// The bytes in `range` with their escapes decoded, or nil for a bad escape. `+` is a plus sign.
    static func decode(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            guard byte == percent else {
                result.append(byte)
                index += 1
                continue
            }
            guard index + 2 < range.upperBound, let high = bytes[index + 1].hexadecimalValue,
                let low = bytes[index + 2].hexadecimalValue
            else { return nil }
            result.append(high << 4 | low)
            index += 3
        }
        return result
    }

    /// The text of a range that `check` has passed.
    static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        guard bytes.firstIndex(of: percent, in: range) != nil else { return bytes.text(range) }
        return String(decoding: decode(bytes, range) ?? [], as: UTF8.self)
    }

    /// Whether a range that `check` has passed decodes to `text`; decodes only the escapes.
    static func matches(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: String) -> Bool {
        guard bytes.firstIndex(of: percent, in: range) == nil else { return decode(bytes, range)?.elementsEqual(text.utf8) ?? false }
        var text = text
        return text.withUTF8 { expected in
            guard expected.count == range.count else { return false }
            for offset in 0..<expected.count where bytes[range.lowerBound + offset] != expected[offset] { return false }
            return true
        }
    }

    static let percent = UInt8(ascii: "%")
}

extension Span<UInt8> {
    /// The bytes in `range` as UTF-8, invalid ones replaced.
    func text(_ range: Range<Int>) -> String {
        withUnsafeBytes { String(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }

    /// The bytes in `range` as ASCII, each other byte as U+FFFD.
    ///
    /// Bytes of a field's value beyond ASCII are opaque (RFC 9110 §5.5), and no field that the server reads may have them. `String`
    /// compares and hashes in normal form, for which it sorts each run of combining characters by insertion, in quadratic time.
    func fieldText(_ range: Range<Int>) -> String {
        let text = text(range)
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
        return withUnsafeBytes { bytes in
            String(String.UnicodeScalarView(bytes[range].map { $0 < 0x80 ? Unicode.Scalar($0) : "\u{FFFD}" }))
        }
    }
}
