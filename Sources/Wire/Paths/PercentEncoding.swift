/// Percent-encoding of one path segment or query value (RFC 3986 §2): everything but the unreserved characters.
package enum PercentEncoding {
    /// The text with every byte outside `A-Z a-z 0-9 - . _ ~` as `%XX`.
    package static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if NameRule.isAlphanumeric(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E {
                output.append(byte)
            } else {
                output.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
