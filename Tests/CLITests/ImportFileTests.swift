import FreshetWire
import Testing

@testable import freshet

struct ImportFileTests {
    private func file(_ json: String, idField: String = "code") throws -> ImportFile {
        try ImportFile(Array(json.utf8), collection: "countries", idField: idField)
    }

    @Test(arguments: [
        #"[{"code":"NZ","name":"New Zealand"},{"code":"FJ","name":"Fiji"}]"#,
        #" {"source":"somewhere","3166-1":[{"code":"NZ","name":"New Zealand"}, {"code":"FJ","name":"Fiji"}],"count":2} "#,
    ])
    func anArrayIsFoundWhereverItStands(json: String) throws {
        // Given a file that is an array, or an object that holds one; When it is read
        let elements = try file(json).elements
        // Then its elements come in order, with their own bytes
        #expect(elements.map(\.key.description) == ["countries/NZ", "countries/FJ"])
        #expect(String(decoding: elements[1].value, as: UTF8.self) == #"{"code":"FJ","name":"Fiji"}"#)
    }

    @Test func aNumberIsAnId() throws {
        #expect(try file(#"[{"code":7}]"#).elements.map(\.key.id) == ["7"])
    }

    @Test(arguments: [
        (#"[{"code":"NZ"},{"name":"Fiji"}]"#, "element 2 has no text or number under 'code'"),
        (#"[{"code":"NZ"},3]"#, "element 2 has no text or number under 'code'"),
        (#"[{"code":{"a":1}}]"#, "element 1 has no text or number under 'code'"),
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

    @Test func aCollectionThatCannotBeIsRefused() {
        #expect(throws: CommandFailure.self) { try ImportFile(Array("[{\"a\":1}]".utf8), collection: "a b", idField: "a") }
    }
}
