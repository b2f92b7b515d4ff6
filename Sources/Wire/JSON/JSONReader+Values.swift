extension JSONReader {
    /// Checks the next value, whatever it is, and takes its bytes as they are. O(n) in its length.
    package mutating func rawValue() throws(WireError) -> [UInt8] {
        _ = peek()
        let start = position
        try skip()
        return Array(bytes[start..<position])
    }

    /// Checks the next value and skips it. O(n) in its length, without recursion, since the input chooses how deep it
    /// is nested.
    package mutating func skip() throws(WireError) {
        var open = BracketStack()
        repeat {
            guard profile == .json || open.count < Self.maximumDepth else {
                throw fail("values are nested deeper than \(Self.maximumDepth) levels")
            }
            guard let byte = peek() else { throw fail("the input ends where a value belongs") }
            switch byte {
            case UInt8(ascii: "{"):
                try beginObject()
                open.append(.object)
            case UInt8(ascii: "["):
                try beginArray()
                open.append(.array)
            case UInt8(ascii: "\""): _ = try stringRange()
            case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try boolean()
            case UInt8(ascii: "n"): try literal("null")
            case UInt8(ascii: "-"), 0x30...0x39: _ = try numberRange()
            default: throw fail("no value begins with this byte")
            }
            // Leaves the arrays and objects that have ended, until an entry follows.
            while let bracket = open.last, try !hasNextEntry(of: bracket) { open.removeLast() }
        } while open.count > 0
    }

    private mutating func hasNextEntry(of bracket: BracketStack.Bracket) throws(WireError) -> Bool {
        switch bracket {
        case .object: try hasNextMember()
        case .array: try nextElement()
        }
    }

    /// Throws unless `bytes` are one value that can be stored; with the profile ``Profile/json``, unless they are one well-formed value.
    package static func validate(_ bytes: [UInt8], profile: Profile = .interoperable) throws(WireError) {
        var reader = JSONReader(bytes, profile: profile)
        try reader.skip()
        try reader.end()
    }
}
