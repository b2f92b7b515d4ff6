import FreshetWire
import Testing

@testable import freshet

struct EncodedPageTests {
    private func page(_ json: String) throws -> EncodedPage { try EncodedPage(json: Array(json.utf8)) }

    @Test func recordsAreALineEach() throws {
        // Given a page with line breaks between the tokens of a value
        let json = #"{"records":[{"key":"c/1","value":{"a":\#r\#n1}}, {"key":"c/2","body":{}} ],"next":"2","cursor":"e-7"}"#
        let page = try page(json)
        // Then each record is one line, and the envelope is read
        let lines = String(decoding: page.lines(), as: UTF8.self)
        #expect(lines == #"{"key":"c/1","value":{"a":  1}}"# + "\n" + #"{"key":"c/2","body":{}}"# + "\n")
        #expect(page.count == 2)
        #expect(page.next == "2")
        #expect(page.cursor == (try Cursor("e-7")))
    }

    @Test(arguments: [
        "[]", "{}", #"{"records":[{"key":"c/1"}],"next":null,"cursor":"e-1"}"#, #"{"records":[{"value":1}],"next":null,"cursor":"e-1"}"#,
        #"{"records":[1],"next":null,"cursor":"e-1"}"#, #"{"records":[],"next":null,"cursor":"e-1"} x"#,
    ])
    func whatIsNoPageIsRefused(json: String) {
        #expect(throws: WireError.self) { try page(json) }
    }

    @Test("a page with a record more than a request may ask for is refused")
    func recordsBeyondTheBound() throws {
        func read(_ count: Int) throws -> EncodedPage {
            let records = Array(repeating: #"{"key":"c/1","value":1}"#, count: count).joined(separator: ",")
            return try page("{\"records\":[\(records)],\"next\":null,\"cursor\":\"e-1\"}")
        }
        #expect(try read(1_000).count == 1_000)
        #expect(throws: WireError.tooMany("records", limit: 1_000)) { try read(1_001) }
    }
}
