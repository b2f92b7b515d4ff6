/// RFC 4648 §6 in lower case and without padding.
enum Base32 {
    static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The text of whole groups of five bytes; bits beyond the last whole character are left out.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var (text, bits, count): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> count & 31)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
