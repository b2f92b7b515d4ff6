/// The alphabets of names, as bytes, so that a check touches no `Character`.
enum NameRule {
    /// `[A-Za-z0-9._-]{1,64}`: collections and clients.
    static func isToken(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isToken(UnsafeRawBufferPointer($0)) }
    }

    static func isToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
        (1...64).contains(bytes.count) && bytes.allSatisfy { isAlphanumeric($0) || isMark($0) }
    }

    /// `[a-z0-9][a-z0-9._-]{0,62}`: namespaces.
    static func isNamespace(_ text: String) -> Bool {
        guard (1...63).contains(text.utf8.count), let first = text.utf8.first, isLowercaseAlphanumeric(first) else { return false }
        return allSatisfy(text) { isLowercaseAlphanumeric($0) || isMark($0) }
    }

    /// Over bytes that lie together: a string's own view of them is several times slower.
    @inline(__always)
    private static func allSatisfy(_ text: String, _ rule: (UInt8) -> Bool) -> Bool {
        var text = text
        return text.withUTF8 { $0.allSatisfy(rule) }
    }

    static func isLowercaseAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isLowercaseAlphanumeric(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}
