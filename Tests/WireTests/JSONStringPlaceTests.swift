import FreshetWire
import Testing

/// Strings are read and written several bytes at once, so a special character must be found at every place.
@Suite struct JSONStringPlaceTests {
    /// A string of `a`, `length` bytes long, with `special` at `place`.
    private static func text(_ length: Int, _ special: String, at place: Int) -> String {
        String(repeating: "a", count: place) + special + String(repeating: "a", count: length - place)
    }

    @Test(arguments: ["\"", "\\", "\n", "\t", "\r", "\u{1}", "\u{1F}", "\u{7F}", "é", "😀", " ", "!", "#", "[", "]"])
    func aStringIsReadAsItWasWrittenWhereverItsSpecialCharacterStands(_ special: String) throws {
        for length in 0...20 {
            for place in 0...length {
                // Given
                let text = Self.text(length, special, at: place)
                var writer = JSONWriter()
                writer.string(text)
                // When
                var reader = JSONReader(writer.bytes)
                // Then
                #expect(try reader.string() == text)
                try reader.end()
            }
        }
    }

    @Test(arguments: [[0x1F], [0x00], [0xFF], [0xC3], [0x5C, 0x78]] as [[UInt8]])
    func whatNoStringMayHoldIsFoundWhereverItStands(_ special: [UInt8]) {
        for length in 0...20 {
            for place in 0...length {
                let bytes =
                    Array("\"\(String(repeating: "a", count: place))".utf8) + special
                    + Array("\(String(repeating: "a", count: length - place))\"".utf8)
                #expect(throws: WireError.self) { try JSONReader.validate(bytes) }
            }
        }
    }

    @Test func aStringWithoutAnEndIsFoundAtAnyLength() {
        for length in 0...20 {
            #expect(throws: WireError.self) { try JSONReader.validate(Array("\"\(String(repeating: "a", count: length))".utf8)) }
        }
    }

    @Test(arguments: [0, 7, 10, 99, 100, 1_043, Int64.max, -1, -10, Int64.min])
    func aNumberIsWrittenInItsDigits(_ number: Int64) {
        var writer = JSONWriter()
        writer.integer(number)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "\(number)")
    }

    @Test(arguments: [nil, 77] as [Int64?])
    func aPositionIsTheSameWithAndWithoutAText(_ origin: Int64?) throws {
        let epoch = try #require(Epoch("k3v9"))
        let goal = origin.flatMap { Revision($0) }.map { Cursor.Goal.origin($0) }
        let cursor = Cursor(epoch: epoch, revision: try #require(Revision(1_043)), goal: goal)
        var bytes: [UInt8] = []
        cursor.append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == cursor.description)
        bytes = []
        cursor.appendEntityTag(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == cursor.entityTag)
    }
}
