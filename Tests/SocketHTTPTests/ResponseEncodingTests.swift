import FreshetPlatform
import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Response encoding")
struct ResponseEncodingTests {
    private static let date = HTTPDate(seconds: 0).bytes

    private static func text(_ response: Response) -> String {
        String(decoding: EncodedResponse(response, date: date).bytes, as: UTF8.self)
    }

    @Test("A response is its status line, its fields, its length and its body")
    func whole() {
        let response = Response(status: .created, fields: [.eTag: "\"7\""], body: Array("hello".utf8))
        #expect(
            ResponseEncodingTests.text(response)
                == "HTTP/1.1 201 Created\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nETag: \"7\"\r\nContent-Length: 5\r\n\r\nhello")
    }

    @Test("204 and 304 have neither body nor length", arguments: [HTTPResponse.Status.noContent, .notModified])
    func empty(status: HTTPResponse.Status) {
        let text = ResponseEncodingTests.text(Response(status: status, body: [1, 2, 3]))
        #expect(text.hasSuffix("GMT\r\n\r\n"))
        #expect(!text.contains("Content-Length"))
    }

    @Test("An invalid status is sent as 500", arguments: [0, 100, 101, 199])
    func notFinal(code: Int) {
        #expect(ResponseEncodingTests.text(Response(status: .init(code: code))).hasPrefix("HTTP/1.1 500 "))
    }

    @Test("The place for a further field is before the empty line")
    func headEnd() {
        let encoded = EncodedResponse(Response(status: .ok, body: [65]), date: ResponseEncodingTests.date)
        #expect(encoded.bytes[encoded.headEnd...].elementsEqual("\r\nA".utf8))
        #expect(encoded.bytes[encoded.bodyStart...].elementsEqual("A".utf8))
    }

    @Test("A chunk is its size, the bytes, and an end")
    func chunk() {
        var buffer: [UInt8] = []
        ResponseEncoder.appendChunk(Array(repeating: 97, count: 26), to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == "1a\r\n\(String(repeating: "a", count: 26))\r\n")
    }
}

@Suite("Response fields")
struct ResponseFieldsTests {
    @Test("Fields are found by name without regard to case, replaced and removed")
    func access() throws {
        // Given some fields, two of one name
        var fields: ResponseFields = [.contentType: "a", .vary: "b"]
        fields.append(.vary, "c")
        let vary = try #require(HTTPField.Name("VARY"))
        #expect(fields[vary] == "b")

        // When one is set, Then it replaces all of its name
        fields[.vary] = "d"
        #expect(String(decoding: fields.lines, as: UTF8.self) == "Content-Type: a\r\nVary: d\r\n")
        fields[.contentType] = nil
        #expect(fields[.contentType] == nil)
        #expect(fields == [.vary: "d"])
    }

    @Test("A value cannot end its line", arguments: ["a\r\nSet-Cookie: b", "a\nb", "a\0b", "a\u{7f}b"])
    func injection(value: String) {
        let fields: ResponseFields = [.contentType: value]
        #expect(fields.lines.filter { $0 == 13 || $0 == 10 }.count == 2)
        #expect(!fields.lines.contains(0))
        #expect(fields[.contentType]?.utf8.count == value.utf8.count)
    }

    @Test("Only the server sets framing fields", arguments: [HTTPField.Name.contentLength, .transferEncoding, .connection, .date])
    func owned(name: HTTPField.Name) {
        var fields = ResponseFields()
        fields[name] = "1"
        #expect(fields.lines.isEmpty)
    }

    @Test("HTTPFields can be given")
    func conversion() {
        var given = HTTPFields()
        given[.eTag] = "x"
        #expect(ResponseFields(given) == [.eTag: "x"])
    }
}
