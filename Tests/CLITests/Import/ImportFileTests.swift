import FreshetWire
import Testing

@testable import freshet

struct ImportFileTests {
    private func file(_ json: String, idField: String = "code") throws -> ImportFile {
        try ImportFile(Array(json.utf8), rules: ImportRules(collection: "countries", idField: idField))
    }

    @Test(arguments: [
        #"[{"code":"NZ","name":"New Zealand"},{"code":"FJ","name":"Fiji"}]"#,
        #" {"source":"somewhere","3166-1":[{"code":"NZ","name":"New Zealand"}, {"code":"FJ","name":"Fiji"}],"count":2} "#,
    ])
    func anArrayIsFoundWhereverItStands(json: String) throws {
        // Given a file that is an array, or an object that holds one; When it is read
        let elements = try file(json).records
        // Then its elements come in order, with their own bytes
        #expect(elements.map(\.key.description) == ["countries/NZ", "countries/FJ"])
        #expect(elements[1].text == #"{"code":"FJ","name":"Fiji"}"#)
        #expect(try file(json).all() == elements)
    }

    @Test func aNumberIsAnId() throws {
        #expect(try file(#"[{"code":7}]"#).records.map(\.key.id) == ["7"])
    }

    @Test(arguments: [
        (#"[{"code":"NZ"},{"name":"Fiji"}]"#, "element 2: there is no text or number under 'code'"),
        (#"[{"code":"NZ"},3]"#, "element 2: there is no text or number under 'code'"),
        (#"[{"code":{"a":1}}]"#, "element 1: there is no text or number under 'code'"),
        (#"{"a":[],"b":[]}"#, "several arrays, 'a', 'b'"),
        (#"{"a":1}"#, "holds no array"),
        (#""text""#, "neither a JSON array nor an object"),
        (#"[{"code":"NZ"}"#, "invalid JSON at byte"),
        (#"[{"code":""}]"#, "is empty"),
    ])
    func whatIsWrongIsSaid(json: String, message: String) {
        let failure = #expect(throws: CommandFailure.self) { try file(json) }
        #expect(failure?.status == .data)
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }

    @Test func withoutAnIdFieldElementsAreRecords() throws {
        // Given an array of exported records; When it is read
        let json = #"[{"key":"a/1","revision":3,"value":{"x":1}},{"key":"b/2","body":{"base64":"AP8=","contentType":"image/png"}}]"#
        let records = try ImportFile(Array(json.utf8), rules: ImportRules()).records
        // Then each has its own key and its content
        #expect(records.map(\.key.description) == ["a/1", "b/2"])
        #expect(records.map(\.content) == [try Content(json: Array(#"{"x":1}"#.utf8)), Content(bytes: [0, 255], type: "image/png")])
    }

    @Test func aCollectionThatCannotBeIsRefused() {
        let rules = ImportRules(collection: "a b", idField: "a")
        #expect(throws: CommandFailure.self) { try ImportFile(Array("[{\"a\":1}]".utf8), rules: rules) }
    }
}
