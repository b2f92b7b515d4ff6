/// RFC 4648 §5 without padding, as JOSE uses it (RFC 7515 §2).
package enum Base64URL {
    /// `nil` unless the text is the only one that encodes its bytes: no padding, no other characters, no bits beyond
    /// the last byte.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var (bytes, bits, count): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        bytes.reserveCapacity(text.count * 3 / 4)
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(bits >> count & 255))
        }
        return bits & ((1 << count) - 1) == 0 ? bytes : nil
    }

    package static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var (text, bits, count): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> count & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
        return text
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each character; 64 for those that have none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
