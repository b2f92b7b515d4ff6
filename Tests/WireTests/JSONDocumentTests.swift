import Testing

@testable import FreshetWire

@Suite("Merge patch and increment")
struct JSONDocumentTests {
    /// The table of RFC 7396, appendix A.
    static let patches: [(String, String, String)] = [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
        (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
        (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
        (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
        ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        // Names are equal when their bytes are, as SQLite has it: é in one scalar is another name than é in two.
        ("{\"\u{E9}\":1}", "{\"e\u{301}\":2}", "{\"\u{E9}\":1,\"e\u{301}\":2}"),
    ]

    @Test("merges as RFC 7396 shows", arguments: patches)
    func merges(target: String, patch: String, result: String) throws {
        let merged = try JSONDocument(Array(target.utf8)).merging(try JSONDocument(Array(patch.utf8)))
        #expect(String(decoding: merged.bytes, as: UTF8.self) == result)
    }

    static let sums: [(String?, String, String, String?)] = [
        (#"{"n":1}"#, "/n", "2", #"{"n":3}"#),
        (#"{"n":1}"#, "/m", "2", #"{"n":1,"m":2}"#),
        (#"{}"#, "/a/b", "-1", #"{"a":{"b":-1}}"#),
        ("5", "", "1", "6"),
        (nil, "/visits", "1", #"{"visits":1}"#),
        (nil, "", "7", "7"),
        (#"{"a":[1,2]}"#, "/a/1", "10", #"{"a":[1,12]}"#),
        (#"{"a~/b":1}"#, "/a~0~1b", "1", #"{"a~/b":2}"#),
        (#"{"n":9223372036854775806}"#, "/n", "1", #"{"n":9223372036854775807}"#),
        (#"{"n":9223372036854775807}"#, "/n", "1", nil),
        (#"{"n":9223372036854775807}"#, "/n", "1.0", nil),
        (#"{"n":-9223372036854775808}"#, "/n", "-1", nil),
        (#"{"n":9223372036854775808}"#, "/n", "-1", nil),
        (#"{"n":0.5}"#, "/n", "0.25", #"{"n":0.75}"#),
        (#"{"n":"x"}"#, "/n", "1", nil),
        (#"{"n":null}"#, "/n", "1", nil),
        (#"{"a":[1]}"#, "/a/1", "1", nil),
        (#"{"a":[1]}"#, "/a/01", "1", nil),
        (#"{"a":3}"#, "/a/b", "1", nil),
        (#"{"n":1e308}"#, "/n", "1e308", nil),
    ]

    @Test("increments where it can, and refuses where it cannot", arguments: sums)
    func increments(target: String?, path: String, amount: String, result: String?) throws {
        let pointer = try JSONPointer(path)
        let number = try #require(JSONNumber(literal: amount))
        let changed =
            try? Increment(path: pointer, by: number).applied(to: target.map { try JSONDocument(Array($0.utf8)) })
        #expect(changed.map { String(decoding: $0.bytes, as: UTF8.self) } == result)
    }

    @Test("refuses texts that are not pointers", arguments: ["a", "/a~2", "/~", "a/b"])
    func refusesPointers(text: String) {
        #expect(throws: WireError.self) { try JSONPointer(text) }
    }

    @Test("a pointer has at most 128 steps and 4,096 bytes")
    func boundsPointers() throws {
        // Given pointers at the bounds, and one step or byte beyond
        let steps = String(repeating: "/a", count: 128)
        let bytes = "/" + String(repeating: "a", count: 4_095)
        // Then the bounds hold
        _ = try JSONPointer(steps)
        _ = try JSONPointer(bytes)
        #expect(throws: WireError.self) { try JSONPointer(steps + "/a") }
        #expect(throws: WireError.self) { try JSONPointer(bytes + "a") }
        #expect(throws: WireError.self) { try JSONPointer(String(repeating: "/", count: 30_000)) }
    }

    @Test("the results of increments and patches can be read again")
    func madeValuesAreReadable() throws {
        // Given the deepest value that is stored, and the longest pointers into it and next to it
        let deep =
            String(repeating: #"{"a":"#, count: JSONReader.maximumDepth - 1) + "1"
            + String(repeating: "}", count: JSONReader.maximumDepth - 1)
        var document = try JSONDocument(Array(deep.utf8))
        for name in ["b", "c"] {
            let pointer = try JSONPointer(String(repeating: "/a", count: 64) + String(repeating: "/\(name)", count: 64))
            document = try Increment(path: pointer, by: .integer(1)).applied(to: document)
        }
        // When patches of any depth are merged into it
        document = document.merging(try JSONDocument(Array(deep.replacing("1", with: #"{"x":null}"#).dropFirst(5).dropLast(1).utf8)))
        // Then it is still accepted
        try JSONReader.validate(document.bytes)
    }

    @Test("merges many members in linear time")
    func mergesManyMembers() throws {
        // Given an object with even numbers as names, and a patch that removes each fourth and adds the odd ones
        let target = (0..<20_000).map { "\"\($0 * 2)\":1" }.joined(separator: ",")
        let patch = (0..<20_000).map { $0 % 2 == 0 ? "\"\($0 * 2)\":null" : "\"\($0)\":2" }.joined(separator: ",")
        // When they are merged
        let merged = try JSONDocument(Array("{\(target)}".utf8)).merging(try JSONDocument(Array("{\(patch)}".utf8)))
        // Then each member is in its place: first those of the value, then those that the patch has added
        guard case .object(let members) = merged else { return #expect(Bool(false)) }
        let names = members.compactMap { Int($0.name) }
        #expect(names == (0..<20_000).map { $0 * 2 }.filter { $0 % 4 != 0 } + stride(from: 1, to: 20_000, by: 2))
    }

    @Test("a patch may name a member again after it was removed in the value")
    func readdsRemovedMembers() throws {
        // Given a patch made in code that names one member twice, which the parser never yields
        let patch = JSONDocument.object([.init(name: "a", value: .null), .init(name: "a", value: .number("2"))])
        // When it is merged
        let merged = JSONDocument.object([.init(name: "a", value: .number("1")), .init(name: "b", value: .null)]).merging(patch)
        // Then the last one counts
        #expect(String(decoding: merged.bytes, as: UTF8.self) == #"{"b":null,"a":2}"#)
    }

    @Test("keeps the order of members and the spelling of numbers")
    func keepsSpelling() throws {
        let text = #"{"z":1.0,"a":1e3,"m":-0}"#
        #expect(String(decoding: try JSONDocument(Array(text.utf8)).bytes, as: UTF8.self) == text)
    }

    @Test("of equal names the last wins, at the place of the first")
    func duplicates() throws {
        let document = try JSONDocument(Array(#"{"a":1,"b":2,"a":3}"#.utf8))
        #expect(String(decoding: document.bytes, as: UTF8.self) == #"{"a":3,"b":2}"#)
    }
}
