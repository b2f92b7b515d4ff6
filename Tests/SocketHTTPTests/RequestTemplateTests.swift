import Testing

@testable import FreshetSocketHTTP

@Suite("Request template")
struct RequestTemplateTests {
    private final class Handler: RepeatedRequestHandler {
        func handle(_ value: Span<UInt8>, _ exchange: Exchange) {}
    }

    private static func bytes(_ value: String, _ lines: String = "") -> [UInt8] {
        Array("GET /changes?since=\(value)&wait=60 HTTP/1.1\r\nHost: x\r\nUser-Agent: device-1\r\n\(lines)\r\n".utf8)
    }

    private static func head(_ bytes: [UInt8]) throws -> RequestHead {
        var parser = RequestParser(limits: ParserLimits(Limits()))
        var position = 0
        var outcome = parser.consume(bytes.span, from: &position)
        if case .incomplete = outcome { outcome = parser.consume(bytes.span, from: &position) }
        guard case .request(let parsed) = outcome else { throw RequestFailure(.malformed, "no request") }
        return parsed.head
    }

    private static func template(_ bytes: [UInt8]) throws -> RequestTemplate? {
        let head = try head(bytes)
        let value = try #require(Query(bytes: head.bytes, range: head.line.query ?? 0..<0).range(of: "since"))
        return RequestTemplate(head, Repetition(value: value, handler: Handler()), origin: 0)
    }

    private static func match(_ template: RequestTemplate, _ input: [UInt8]) -> (value: String, end: Int)? {
        input.withUnsafeBytes { template.match($0) }.map { (String(decoding: input[$0.value], as: UTF8.self), $0.end) }
    }

    @Test(
        "A head with another value matches, and the parser reads the same from it",
        arguments: ["e-12", "e-99", "e-7", "0", "now", "~._-"]
    )
    func matches(value: String) throws {
        // Given a template, and the same head with another value and more bytes behind it
        let template = try #require(try Self.template(Self.bytes("e-12")))
        let other = Self.bytes(value)
        // When
        let match = Self.match(template, other + Array("GET ".utf8))
        // Then
        #expect(match?.value == value && match?.end == other.count)
        let parsed = try Self.head(other)
        #expect(Query(bytes: parsed.bytes, range: parsed.line.query ?? 0..<0)["since"] == match?.value)
    }

    @Test(
        "A value that is longer, empty or not of unreserved characters does not match",
        arguments: ["e-123", "", "e%31", "a&b", "a+b", "a b", "é"]
    )
    func otherValues(value: String) throws {
        let template = try #require(try Self.template(Self.bytes("e-12")))
        #expect(Self.match(template, Self.bytes(value)) == nil)
    }

    @Test("A head with any other byte changed does not match, nor does a part of a head")
    func otherBytes() throws {
        // Given
        let bytes = Self.bytes("e-12")
        let template = try #require(try Self.template(bytes))
        #expect(Self.match(template, bytes) != nil)
        // Then
        let value = 19..<23
        #expect(String(decoding: bytes[value], as: UTF8.self) == "e-12")
        for index in bytes.indices where !value.contains(index) {
            var other = bytes
            other[index] ^= 0x20
            #expect(Self.match(template, other) == nil, "byte \(index)")
        }
        for count in bytes.indices { #expect(Self.match(template, Array(bytes[..<count])) == nil, "\(count) bytes") }
        #expect(Self.match(template, Array("\r\n".utf8) + bytes) == nil)
    }

    @Test("A long head and one with a body are not kept")
    func keepsNeither() throws {
        let long = "X: " + String(repeating: "x", count: 2_048) + "\r\n"
        for lines in ["Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", long] {
            let body = lines.hasPrefix("T") ? "0\r\n\r\n" : lines.hasPrefix("C") ? "x" : ""
            #expect(try Self.template(Self.bytes("e-12", lines) + Array(body.utf8)) == nil)
        }
    }
}
