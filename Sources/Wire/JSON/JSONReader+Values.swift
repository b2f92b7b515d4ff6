extension JSONReader {
    /// Checks the next value, whatever it is, and takes its bytes as they are. O(n) in its length.
    public mutating func rawValue() throws(WireError) -> [UInt8] {
        _ = peek()
        let start = position
        try skip()
        return Array(bytes[start..<position])
    }

    /// Checks the next value and passes over it.
    public mutating func skip() throws(WireError) { try skip(depth: 0) }

    /// Throws unless `bytes` are one well-formed JSON value.
    public static func validate(_ bytes: [UInt8]) throws(WireError) {
        var reader = JSONReader(bytes)
        try reader.skip()
        try reader.end()
    }

    private mutating func skip(depth: Int) throws(WireError) {
        guard depth < Self.maximumDepth else { throw fail("values are nested deeper than \(Self.maximumDepth) levels") }
        guard let byte = peek() else { throw fail("the input ends where a value belongs") }
        switch byte {
        case UInt8(ascii: "{"):
            try beginObject()
            while try hasNextMember() { try skip(depth: depth + 1) }
        case UInt8(ascii: "["):
            try beginArray()
            while try nextElement() { try skip(depth: depth + 1) }
        case UInt8(ascii: "\""): _ = try stringRange()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try boolean()
        case UInt8(ascii: "n"): try literal("null")
        case UInt8(ascii: "-"), 0x30...0x39: _ = try numberRange()
        default: throw fail("no value begins with this byte")
        }
    }
}
