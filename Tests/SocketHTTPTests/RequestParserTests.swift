import Testing

@testable import FreshetSocketHTTP

@Suite("Request parser")
struct RequestParserTests {
    /// The result of a run of the parser over some bytes.
    private struct Result: Equatable {
        var requests: [String] = []
        var failure: RequestFailure.Kind?
        var bodies = 0
        var isFresh = true
    }

    private static let limits = ParserLimits(headerBytes: 256, targetBytes: 64, bodyBytes: 64)

    private static func parse(_ pieces: [ArraySlice<UInt8>]) -> Result {
        var parser = RequestParser(limits: limits)
        var result = Result()
        for piece in pieces {
            let input = Array(piece)
            var position = 0
            while position < input.count, result.failure == nil {
                switch parser.consume(input.span, from: &position) {
                case .incomplete: break
                case .body: result.bodies += 1
                case .request(let request):
                    let target = request.head.text(request.head.line.target)
                    let body = String(decoding: request.body, as: UTF8.self)
                    result.requests.append("\(request.head.methodName) \(target) \(body)")
                case .failure(let failure): result.failure = failure.kind
                }
            }
        }
        result.isFresh = parser.isFresh
        return result
    }

    private static let messages: [String] = [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "\r\nGET /a?b=%20c HTTP/1.1\r\nHost: x\r\nAccept:  */* \r\n\r\n",
        "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n006\r\n world\r\n0\r\nT: v\r\n\r\n",
        "POST /p HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok",
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nxGET /3 HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n41\r\n",
        "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n Folded: y\r\n\r\n",
    ]

    @Test("A message means the same wherever it is split", arguments: messages)
    func split(message: String) {
        // Given a message, and the result when it arrives whole
        let bytes = Array(message.utf8)
        let whole = RequestParserTests.parse([bytes[...]])
        #expect(whole.failure != nil || !whole.requests.isEmpty)

        // When it is split at each boundary, Then the result is the same
        for boundary in 1..<bytes.count {
            #expect(RequestParserTests.parse([bytes[..<boundary], bytes[boundary...]]) == whole, "split at \(boundary)")
        }
        #expect(RequestParserTests.parse(bytes.indices.map { bytes[$0...$0] }) == whole, "byte by byte")
    }

    @Test("Requests come out in order, with their bodies")
    func pipelined() {
        let result = RequestParserTests.parse([Array(RequestParserTests.messages[5].utf8)[...]])
        #expect(result.requests == ["GET /1 ", "POST /2 x", "GET /3 "])
        #expect(result.isFresh)
    }

    @Test("A chunked body is decoded, its extensions and trailers dropped")
    func chunked() {
        let result = RequestParserTests.parse([Array(RequestParserTests.messages[3].utf8)[...]])
        #expect(result.requests == ["POST /p hello world"])
        #expect(result.isFresh)
    }

    @Test("A large body is announced once, before it has arrived", arguments: [65_536, 80_000, 200_000], [false, true])
    func largeBody(count: Int, isChunked: Bool) {
        // Given a request with a body of a length or in chunks
        let content = String(repeating: "a", count: count)
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(count)"
        let body = isChunked ? "\(String(count, radix: 16))\r\n\(content)\r\n0\r\n\r\n" : content
        let bytes = Array("POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n\(body)".utf8)
        var parser = RequestParser(limits: ParserLimits(Limits()))
        var (announcements, held) = (0, 0)
        var result: Int?

        // When it arrives in pieces
        for start in stride(from: 0, to: bytes.count, by: 1_000) {
            let piece = Array(bytes[start..<min(start + 1_000, bytes.count)])
            var position = 0
            while position < piece.count {
                switch parser.consume(piece.span, from: &position) {
                case .incomplete: break
                case .body: (announcements, held) = (announcements + 1, parser.heldBytes)
                case .request(let request): result = request.body.count
                case .failure(let failure): Issue.record("\(failure)")
                }
            }
        }

        // Then it is announced if it has more than 64 KiB, with at most one piece beyond them
        #expect(announcements == (count > 65_536 ? 1 : 0))
        #expect(held <= bytes.count - body.utf8.count + (isChunked ? 65_536 + 1_000 : 0))
        #expect(result == count)
    }

    @Test("The parser reports its progress")
    func progress() {
        // Given a parser
        var parser = RequestParser(limits: ParserLimits(Limits()))
        func feed(_ text: String) {
            let bytes = Array(text.utf8)
            var position = 0
            while position < bytes.count { _ = parser.consume(bytes.span, from: &position) }
        }

        // When a request arrives bit by bit, Then it is between requests, in the head, in the body, and between again
        #expect(parser.progress == .betweenRequests)
        feed("\r\n")
        #expect(parser.progress == .betweenRequests)
        #expect(parser.isFresh)
        feed("POST / HT")
        #expect(parser.progress == .inHead)
        feed("TP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
        #expect(parser.progress == .inBody)
        feed("ab")
        #expect(parser.progress == .betweenRequests)
    }

    @Test("An empty line that has arrived in part is not the beginning of a request, and has to be completed")
    func partOfAnEmptyLine() {
        // Given a parser
        var parser = RequestParser(limits: RequestParserTests.limits)
        func feed(_ text: String) -> RequestParser.Outcome {
            let bytes = Array(text.utf8)
            var position = 0
            return parser.consume(bytes.span, from: &position)
        }
        // When empty lines arrive in halves, Then no request has begun
        for _ in 0..<3 {
            _ = feed("\r")
            #expect(parser.progress == .betweenRequests && !parser.isFresh)
            _ = feed("\n")
            #expect(parser.progress == .betweenRequests && parser.isFresh)
        }
        // When one arrives with half of the next, Then none has begun either; and then one has
        _ = feed("\r\n\r")
        #expect(parser.progress == .betweenRequests)
        _ = feed("\nG")
        #expect(parser.progress == .inHead)
        // When another byte follows the first half, Then it is refused at once, and not kept
        for bytes in ["\rG", "\r\r"] {
            parser = RequestParser(limits: RequestParserTests.limits)
            guard case .failure(let failure) = feed(bytes) else {
                Issue.record("accepted \(bytes.debugDescription)")
                continue
            }
            #expect(failure.kind == .malformed)
        }
    }

    @Test("A refused message stays refused")
    func failed() {
        // Given a parser that has refused
        var parser = RequestParser(limits: ParserLimits(Limits()))
        let bytes = Array("BAD\r\n".utf8)
        var position = 0
        _ = parser.consume(bytes.span, from: &position)

        // When a valid request follows, Then it is refused as well: its start is unknown
        let next = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        position = 0
        guard case .failure(let failure) = parser.consume(next.span, from: &position) else {
            Issue.record("accepted a request after a failure")
            return
        }
        #expect(failure.kind == .malformed)
    }

    @Test("Every single byte may follow every prefix without harm", arguments: [0, 3, 4])
    func hostileBytes(index: Int) {
        // Given each prefix of a message, When any byte follows it, Then the parser decides and does not trap
        let bytes = Array(RequestParserTests.messages[index].utf8)
        for end in 0..<bytes.count {
            for byte in UInt8.min...UInt8.max {
                _ = RequestParserTests.parse([bytes[..<end], [byte], bytes[end...]])
            }
        }
    }
}
