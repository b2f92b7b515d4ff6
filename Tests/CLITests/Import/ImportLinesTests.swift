import FreshetWire
import Testing

@testable import freshet

struct ImportLinesTests {
    private func records(_ text: String, rules: ImportRules = ImportRules()) throws -> [ImportRecord] {
        try ImportLines(input: try ImportText(text).input, rules: rules).all()
    }

    @Test func recordsAreReadAsTheyAreExported() throws {
        // Given lines with and without JSON, an empty one, white space, CRLF, and no line feed at the end
        let text = """
            \u{FEFF}{"key":"notes/1","revision":7,"value":{"a": 1},"contentType":"application/json","size":8,"modified":"x"}\r

              \t
            {"later":[{}],"body":{"base64":"AAH/","contentType":"image/png"},"key":"notes/a/b"}
            """
        // When they are read
        let records = try records(text)
        // Then each has its key, the bytes of its value, its media type and its line
        #expect(records.map(\.key.description) == ["notes/1", "notes/a/b"])
        #expect(records.map(\.content) == [try Content(json: Array(#"{"a": 1}"#.utf8)), Content(bytes: [0, 1, 255], type: "image/png")])
        #expect(records.map(\.place.description) == ["line 1", "line 4"])
    }

    @Test func aCollectionReplacesThatOfTheKeys() throws {
        let records = try records(#"{"key":"notes/a/b","value":1}"#, rules: ImportRules(collection: "copy"))
        #expect(records.map(\.key.description) == ["copy/a/b"])
    }

    @Test func withAnIdFieldEachObjectIsAValue() throws {
        let records = try records(#"{"code": 7, "key":"x"}"#, rules: ImportRules(collection: "c", idField: "code"))
        #expect(records.map(\.key.description) == ["c/7"])
        #expect(records.map(\.text) == [#"{"code":7,"key":"x"}"#])
    }

    @Test(arguments: [
        (#"{"key":"c/1","value":1"#, "line 2: invalid JSON at byte"),
        (#"{"key":"c/1","value":{"a":1,"a":2}}"#, "line 2: invalid JSON at byte"),
        (#"{"key":"c/1","value":1} x"#, "line 2: invalid JSON at byte 24"),
        ("[1]", "line 2: at byte 0 of the JSON stands something else than an object"),
        (#"{"value":1}"#, "line 2: there is no 'key'"),
        (#"{"key":"c","value":1}"#, "line 2: 'c' is no key"),
        (#"{"key":"c/1"}"#, "line 2: c/1 has neither 'value' nor 'body'"),
        (#"{"key":"c/1","value":1,"body":{"base64":""}}"#, "line 2: a record has 'value' or 'body', not both"),
        (#"{"key":"c/1","body":{"base64":"?","contentType":"a/b"}}"#, "line 2: 'base64' under 'body' is not base64"),
        (#"{"key":"c/1","body":{"base64":"ew==","contentType":"application/json"}}"#, "line 2: invalid JSON at byte 1"),
    ])
    func errorsNameTheLine(line: String, message: String) {
        let failure = #expect(throws: CommandFailure.self) { try records(#"{"key":"c/0","value":0}"# + "\n" + line) }
        #expect(failure?.status == .data)
        #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
    }
}
