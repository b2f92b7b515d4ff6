import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Request")
struct RequestTests {
    private static func request(_ target: String, _ lines: String = "") throws -> Request {
        var parser = RequestParser(limits: ParserLimits(Limits()))
        let bytes = Array("GET \(target) HTTP/1.1\r\nHost: x\r\n\(lines)\r\n".utf8)
        var position = 0
        guard case .request(let parsed) = parser.consume(bytes.span, from: &position) else {
            throw RequestFailure(.malformed, target)
        }
        let route = Route(.get, parameterNames: [], admission: nil) { _, _ in }
        return Request(parsed, RouteParameters(route: route, ranges: []), peer: PeerAddress())
    }

    @Test("Query values are decoded, and found by their decoded names")
    func query() throws {
        let request = try RequestTests.request("/a?x=1&y=%26&x=2&%7A=3&empty=&bare&&a+b=c+d")
        #expect(request.query["x"] == "1")
        #expect(request.queryValues("x") == ["1", "2"])
        #expect(request.query["y"] == "&")
        #expect(request.query["z"] == "3")
        #expect(request.query["empty"] == "")
        #expect(request.query["bare"] == "")
        #expect(request.query["none"] == nil)
        #expect(request.query["a+b"] == "c+d")
        #expect(request.query.names == ["x", "y", "x", "z", "empty", "bare", "a+b"])
    }

    @Test("Fields are found without regard to case, whole names only")
    func fields() throws {
        let request = try RequestTests.request("/", "Accept: a\r\nACCEPT:b \r\nAccept-Encoding: c\r\nX: \r\n")
        let name = try #require(HTTPField.Name("x"))
        #expect(request[.accept] == "a, b")
        #expect(request.values(of: .accept) == ["a", "b"])
        #expect(request[name] == "")
        #expect(request[.acceptEncoding] == "c")
        #expect(request[.contentType] == nil)
        #expect(request.has(.accept))
        #expect(!request.has(.connection))
        #expect(request.fields.count == 5)
        #expect(request.fields[values: .accept] == ["a", "b"])
    }

    @Test("A text is found within one line of a field, without regard to case")
    func containedText() throws {
        // Given fields of which a line contains the text, and requests without such a line
        let matching = ["Accept: a\r\nACCEPT: b, Text/Event-Stream;q=1\r\nAccept: c\r\n", "Accept: text/event-stream\r\n"]
        let others = [
            "", "Accept:\r\n", "Accept: event-stream\r\n", "X: text/event-stream\r\n", "Accept: text/event-strea\r\nAccept: m\r\n",
            "Accept: text/event_stream\r\n",
        ]
        // Then
        for lines in matching + others {
            let request = try RequestTests.request("/", lines)
            let isFound = request.contains("text/event-stream", in: .accept)
            #expect(isFound == matching.contains(lines), "\(lines)")
        }
    }

    @Test("Bytes of a field beyond ASCII are opaque, and its bytes can be read")
    func opaqueBytes() throws {
        // Given a field with a combining character, and one in two lines
        let request = try RequestTests.request("/", "Accept: e\u{301}\"\r\nOrigin: a\r\nOrigin: \u{301}\r\n")
        // Then each byte is a replacement
        #expect(request[.accept] == "e\u{FFFD}\u{FFFD}\"")
        #expect(request[.origin] == "a, \u{FFFD}\u{FFFD}")
        #expect(request.values(of: .origin) == ["a", "\u{FFFD}\u{FFFD}"])
        var bytes: [UInt8] = []
        request.forEachValue(of: .accept) { value in
            bytes = (0..<value.count).map { value[$0] }
            return true
        }
        #expect(bytes == Array("e\u{301}\"".utf8))
    }

    @Test("Names of a query are equal when their bytes are")
    func bytesOfNames() throws {
        // Given é as one character and as two
        let request = try RequestTests.request("/a?e%CC%81=1&%C3%A9=2")
        #expect(request.query["\u{E9}"] == "2")
        #expect(request.query["e\u{301}"] == "1")
        #expect(request.query["e"] == nil)
    }

    @Test("Target and path are kept as they came")
    func raw() throws {
        let request = try RequestTests.request("/a%20b?c=%20")
        #expect(request.rawTarget == "/a%20b?c=%20")
        #expect(request.rawPath == "/a%20b")
        #expect(request.method == .get)
        #expect(!request.isHTTP10)
        #expect(request.parameter("none") == "")
        #expect(request.remoteAddress == "")
    }
}
