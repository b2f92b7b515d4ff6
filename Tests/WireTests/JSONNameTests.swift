import Testing

@testable import FreshetWire

@Suite struct JSONNameTests {
    /// Read as a member's name, however it is spelt.
    private func name(_ spelling: String) throws -> JSONName {
        var reader = JSONReader(Array("{\"\(spelling)\":1}".utf8))
        try reader.beginObject()
        return try #require(try reader.nextMember())
    }

    @Test(arguments: ["", "a", "op", "key", "size", "number", "revision", "16 letters of i!", "seventeen letters", "é…"])
    func aNameIsItsText(_ text: String) throws {
        // Given the name as it is, and with each character escaped
        let escaped = text.utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        // Then
        #expect(try name(text).text == text && name(text).description == text)
        #expect(try name(escaped.joined()) == name(text))
    }

    @Test func aNameIsComparedByAllOfItsBytes() throws {
        let name = try name("revision")
        #expect(name == "revision")
        for other: StaticString in ["", "r", "revisio", "revisions", "revisiom", "Revision", "aevision", "revisiön"] {
            #expect(!(name == other))
        }
        let long = try self.name("a name of many bytes")
        #expect(long == "a name of many bytes")
        #expect(!(long == "a name of many bytEs") && !(long == "a name of many"))
    }

    /// A short name next to a zero byte is not taken for a longer one.
    @Test func zerosAreBytesToo() throws {
        #expect(try name("a\\u0000") != name("a"))
        #expect(try name("a\\u0000").text == "a\0")
    }

    @Test func namesOfEachLengthAreToldApart() throws {
        for length in 0...20 {
            let text = String(repeating: "x", count: length)
            for place in 0..<length {
                // Given a name that differs in one byte
                var other = Array(text.utf8)
                other[place] = UInt8(ascii: "y")
                // Then
                #expect(try name(text) != name(String(decoding: other, as: UTF8.self)))
            }
        }
    }

    @Test func aSwitchComparesWithLiterals() throws {
        let found =
            switch try name("op") {
            case "key": 1
            case "op": 2
            default: 3
            }
        #expect(found == 2)
    }
}
