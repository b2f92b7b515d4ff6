import FreshetWire
import Testing

@Suite("JSON reader")
struct JSONReaderTests {
    static let valid: [String] = [
        "0", "-0", "12", "-1.5e+10", "1E5", "0.5", "true", "false", "null", "\"\"", "\"a\\u00e9\\n\\\"\"", "[]", "[1,[2,[3]]]", "{}",
        " {\"a\" : [1 , 2] , \"b\":{\"c\":null}} \n", "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"é漢😀\"",
    ]

    @Test("accepts well-formed values and takes them as they are", arguments: valid)
    func acceptsValid(text: String) throws {
        // Given a well-formed value between white space, When it is taken raw
        var reader = JSONReader(Array(" \(text)\t".utf8))
        let raw = try reader.rawValue()
        try reader.end()
        // Then its bytes are the very ones
        let core = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(String(decoding: raw, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ") == core)
    }

    static let invalid: [(String, Int)] = [
        ("", 0), ("tru", 0), ("nul", 0), ("01", 1), ("-", 1), ("1.", 2), (".5", 0), ("1e", 2), ("+1", 0), ("[1,]", 3), ("[1 2]", 3),
        ("[,1]", 1), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1), ("\"\u{1}\"", 1), ("\"\\x\"", 1), ("\"\\u12\"", 1),
        ("\"abc", 4), ("[1", 2), ("{\"a\":1", 6), ("1 2", 2), ("NaN", 0), ("'a'", 0), ("// x\n1", 0), ("[1]]", 3), ("\u{FEFF}1", 0),
    ]

    @Test("refuses ill-formed values and names the byte", arguments: invalid)
    func refusesInvalid(text: String, offset: Int) {
        // Given ill-formed input, When it is checked, Then the error points at the first byte that is wrong
        #expect {
            try JSONReader.validate(Array(text.utf8))
        } throws: { error in
            guard case .invalidJSON(offset, _)? = error as? WireError else { return false }
            return true
        }
    }

    @Test("begins within bytes, and counts places from the first")
    func beginsWithin() throws {
        // Given a string that follows other bytes, When a reader begins there
        var reader = JSONReader(Array(#"a:"b" "#.utf8), from: 2)
        // Then it reads the string alone
        let text = try reader.string()
        #expect(text == "b" && reader.position == 5)
        // And the place of an error counts from the first byte
        var wrong = JSONReader(Array(#"a:"b"#.utf8), from: 2)
        #expect(throws: WireError.invalidJSON(offset: 4, reason: "a string has no end")) { try wrong.string() }
    }

    @Test("no prefix of a document is a document")
    func refusesEveryPrefix() throws {
        let document = Array(#"{"a":[1,-2.5e3,"x\u00e9\\",true,null],"b":{"c":{}}}"#.utf8)
        try JSONReader.validate(document)
        for count in 0..<document.count {
            #expect(throws: WireError.self) { try JSONReader.validate(Array(document.prefix(count))) }
        }
    }

    @Test(
        "refuses strings that are not UTF-8",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]])
    func refusesInvalidUTF8(bytes: [UInt8]) {
        #expect(throws: WireError.self) { try JSONReader.validate([0x22] + bytes + [0x22]) }
    }

    @Test("refuses a lone surrogate only where the text is wanted")
    func loneSurrogates() throws {
        var reader = JSONReader(Array("\"\\ud800x\"".utf8))
        #expect(throws: WireError.invalidJSON(offset: 1, reason: "a \\u escape is half of a surrogate pair")) { try reader.string() }
    }

    @Test("bounds the nesting instead of exhausting the stack")
    func boundsDepth() throws {
        let deepest = JSONReader.maximumDepth
        try JSONReader.validate(Array((String(repeating: "[", count: deepest) + String(repeating: "]", count: deepest)).utf8))
        #expect(throws: WireError.self) { try JSONReader.validate(Array(String(repeating: "[", count: 1_000_000).utf8)) }
        #expect(throws: WireError.self) { try JSONReader.validate(Array(String(repeating: "{\"a\":", count: 1_000_000).utf8)) }
    }

    @Test("keeps arrays and objects apart at any depth", arguments: [1, 63, 64, 65, 127, 128, 129, 200])
    func keepsBracketsApart(depth: Int) throws {
        // Given arrays and objects in turn by a pattern that does not repeat within 64 levels
        let kinds = (0..<depth).map { $0 % 3 == 0 || $0 % 7 == 1 }
        let opening = kinds.map { $0 ? "{\"a\":" : "[1," }.joined()
        let closing = kinds.reversed().map { $0 ? ",\"b\":2}" : ",3]" }.joined()
        // When the value is checked, Then it is right, and wrong where one bracket is of the other kind
        try JSONReader.validate(Array((opening + "0" + closing).utf8))
        for place in [0, depth / 2, depth - 1] {
            var wrong = kinds.reversed().map { $0 ? "}" : "]" }
            wrong[place] = wrong[place] == "}" ? "]" : "}"
            #expect(throws: WireError.self) { try JSONReader.validate(Array((opening + "0" + wrong.joined()).utf8)) }
        }
    }

    @Test("passes over nesting of any depth that a server has sent")
    func passesOverAnyDepth() throws {
        // Given a value a million levels deep, as no server stores it today
        let deep = Array((String(repeating: "[", count: 1_000_000) + String(repeating: "]", count: 1_000_000)).utf8)
        // When it is taken raw, Then it is whole
        var reader = JSONReader(deep)
        let raw = try reader.rawValue()
        #expect(raw == deep)
    }

    static let notInteroperable: [(String, Int)] = [
        // Surrogates (RFC 7493 §2.1): a high one alone, a low one alone, two high ones, one before another escape, one in a name.
        (#""\ud800""#, 1), (#""x\udc00""#, 2), (#""\ud800\ud800""#, 1), (#""\ud83d\n""#, 1), (#"{"\uDFFF":1}"#, 2),
        (#"["\ud83d", "\ude00"]"#, 2),
        // Names (§2.3): twice, in an inner object, spelt in two ways.
        (#"{"a":1,"a":2}"#, 7), (#"[{"a":{"b":1,"c":2,"b":3}}]"#, 19), (#"{"a":1,"\u0061":2}"#, 7), (#"{"\u0061":1,"a":2}"#, 12),
        (#"{"":1,"":2}"#, 6),
    ]

    @Test("refuses JSON that other readers interpret in different ways, and accepts it from a server", arguments: notInteroperable)
    func refusesNotInteroperable(text: String, offset: Int) throws {
        // Given JSON that is not I-JSON, When it is checked for the store, Then the error names the byte
        #expect {
            try JSONReader.validate(Array(text.utf8))
        } throws: { error in
            guard case .invalidJSON(offset, _)? = error as? WireError else { return false }
            return true
        }
        // And a value that was stored under earlier rules stays readable.
        try JSONReader.validate(Array(text.utf8), profile: .json)
    }

    @Test(
        "takes equal names in different objects, and pairs of surrogates",
        arguments: [#"{"a":{"a":1},"b":{"a":[{"a":1},{"a":2}]}}"#, #"["\ud83d\ude00","\uD83D\uDE00"]"#, "{\"\u{E9}\":1,\"e\u{301}\":2}"])
    func takesInteroperable(text: String) throws { try JSONReader.validate(Array(text.utf8)) }

    @Test("finds the one name that comes twice among many", arguments: [2, 15, 16, 17, 18, 40, 5_000])
    func findsDuplicateAmongMany(count: Int) throws {
        // Given an object with many names, and one of them once more
        let names = (0..<count).map { "\"n\($0)\":{\"n\($0)\":1}" }.joined(separator: ",")
        try JSONReader.validate(Array("{\(names)}".utf8))
        for duplicate in [0, count / 2, count - 1] {
            // When it is checked, Then it is refused
            #expect(throws: WireError.self) { try JSONReader.validate(Array("{\(names),\"n\(duplicate)\":2}".utf8)) }
        }
    }

    @Test("a message has each member once, where a server reads it")
    func refusesDuplicateMembersOfMessages() throws {
        let batch = Array(#"{"client":"d","writes":[{"number":1,"op":"delete","key":"c/a","key":"c/b"}]}"#.utf8)
        #expect(throws: WireError.invalidJSON(offset: 62, reason: "an object has the member 'key' twice; name it once")) {
            try WriteBatch(json: batch, profile: .interoperable)
        }
    }

    @Test("counts an array while it reads it")
    func countsWhileReading() throws {
        // Given far more keys than a request takes, and then no JSON
        let text = "{\"keys\":[" + String(repeating: "{\"key\":\"c/1\"},", count: ReadsRequest.maximumCount + 1) + "!"
        // When it is read, Then it is refused for the count of its keys, before the rest is read
        #expect(throws: WireError.tooMany("keys", limit: ReadsRequest.maximumCount)) { try ReadsRequest(json: Array(text.utf8)) }
    }

    @Test("distinguishes another kind of value from ill-formed input")
    func tellsKinds() throws {
        var reader = JSONReader(Array("[1]".utf8))
        #expect {
            try reader.beginObject()
        } throws: { error in
            guard case .unexpectedJSON? = error as? WireError else { return false }
            return true
        }
    }

    @Test("goes back to a mark, and forgets the names that it has read since", arguments: [2, 40])
    func rewinds(members: Int) throws {
        // Given an array whose element has few or many names, and ends too soon
        let names = (1...members).map { "\"n\($0)\":[\($0)]" }.joined(separator: ",")
        var reader = JSONReader(Array("{\"a\":[{\(names),\"o\":{\"p\":1}}]}".utf8), profile: .interoperable)
        try reader.beginObject()
        _ = try reader.nextMember()
        try reader.beginArray()
        #expect(try reader.nextElement())
        // When the reader goes back from inside of an inner object, twice
        let mark = reader.mark
        for _ in 1...2 {
            try reader.beginObject()
            for _ in 1...members {
                _ = try reader.nextMember()
                try reader.skip()
            }
            _ = try reader.nextMember()
            try reader.beginObject()
            _ = try reader.nextMember()
            reader.rewind(to: mark)
        }
        // Then no name counts as a repetition, and the reader reads to the end
        try reader.skip()
        #expect(try !reader.nextElement())
        #expect(try reader.nextMember() == nil)
        try reader.end()
    }

    @Test("never crashes on bytes of any kind", arguments: 0..<64)
    func survivesNoise(seed: UInt64) {
        // Given well-formed documents with bytes changed at random
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        for _ in 0..<200 {
            var bytes = Array(#"{"key":"c/1","revision":12,"op":"put","value":{"a":[1,"\u00e9"]},"client":"d","write":3}"#.utf8)
            for _ in 0...(next() % 4) { bytes[Int(next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: next()) }
            // When they are read as messages, Then each is a message or an error
            _ = try? Change(json: bytes)
            _ = try? WriteBatch(json: bytes)
            _ = try? Problem(json: bytes)
            _ = try? JSONReader.validate(bytes)
        }
    }
}
