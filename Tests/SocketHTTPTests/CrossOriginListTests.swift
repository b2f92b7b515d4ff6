import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("List of origins") struct CrossOriginListTests {
    private let list = CrossOriginList(["https://a.example", "https://B.example"], exposed: [.eTag], accepted: [.authorization])

    private func head(_ lines: String) throws -> RequestHead {
        var parser = RequestParser(limits: ParserLimits(Limits()))
        let bytes = Array("GET / HTTP/1.1\r\nHost: x\r\n\(lines)\r\n".utf8)
        var position = 0
        guard case .request(let parsed) = parser.consume(bytes.span, from: &position) else {
            throw RequestFailure(.malformed, "no request")
        }
        return parsed.head
    }

    private func fields(of number: UInt16) -> String {
        var bytes: [UInt8] = []
        list.append(number, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "Only one listed origin has a number",
        arguments: [
            ("", 0), ("Origin: https://a.example\r\n", 1), ("ORIGIN:https://b.example \r\n", 2), ("Origin: https://a.example:443\r\n", 0),
            ("Origin: null\r\n", 0), ("Origin: \r\n", 0), ("Origin: https://a.example\r\nOrigin: https://a.example\r\n", 0),
            ("Origin: https://a.example, https://b.example\r\n", 0), ("X-Origin: https://a.example\r\n", 0),
        ])
    func numbers(lines: String, expected: UInt16) throws {
        #expect(list.number(of: try head(lines)) == expected)
    }

    @Test("The fields name the origin of the number, and none if there is no such origin")
    func fields() {
        #expect(
            fields(of: 2) == "Access-Control-Allow-Origin: https://b.example\r\nAccess-Control-Expose-Headers: ETag\r\nVary: Origin\r\n")
        #expect(fields(of: 0).isEmpty && fields(of: 3).isEmpty && fields(of: .max).isEmpty)
    }

    @Test("A list that is replaced keeps the numbers of its origins, uses those of others again, and does not grow")
    func replacement() throws {
        // When
        for round in 0..<1_000 { list.set(["https://b.example", "https://\(round).example"]) }
        // Then
        #expect(list.number(of: try head("Origin: https://a.example\r\n")) == 0)
        #expect(list.number(of: try head("Origin: https://b.example\r\n")) == 2)
        #expect(list.number(of: try head("Origin: https://999.example\r\n")) == 1)
        #expect(fields(of: 3).isEmpty)
        // And an origin that was removed gets no fields, although its request is in progress
        list.set([])
        #expect(fields(of: 1).isEmpty && fields(of: 2).isEmpty)
    }
}
