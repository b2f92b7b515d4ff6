import FreshetWire

@testable import FreshetSocketHTTP

/// Bytes from a socket.
enum Requests {
    private static let limits = ParserLimits(headerBytes: 2_048, targetBytes: 512, bodyBytes: 4_096)

    /// The parser's result for all bytes, as a text: each request with its body, and how the parse ended.
    private static func outcomes(_ input: [UInt8], pieces: Int) -> [String] {
        var parser = RequestParser(limits: limits)
        var found: [String] = []
        var start = 0
        while start < input.count {
            let piece = Array(input[start..<min(start + pieces, input.count)])
            start += piece.count
            var position = 0
            while position < piece.count {
                let before = position
                switch parser.consume(piece.span, from: &position) {
                case .incomplete: break
                case .body(let head): if head.expectsContinue { found.append("continue") }
                case .request(let request):
                    require(request.body.count <= limits.bodyBytes, "a body beyond the limit")
                    require(request.head.bytes.count <= limits.headerBytes + limits.targetBytes + 128, "a head beyond the limits")
                    found.append("\(request.head.bytes) \(request.body)")
                case .failure:
                    // If a head breaks two rules, the split decides which violation is found first: a wrong byte, or a
                    // limit.
                    return found + ["refused"]
                }
                require(position > before || position == piece.count, "the parser did not move")
            }
        }
        return found
    }

    /// Checks that every split of the bytes gives the same requests.
    static func parse(_ input: [UInt8]) {
        let whole = outcomes(input, pieces: max(input.count, 1))
        require(whole == outcomes(input, pieces: 1), "bytes one by one are other requests than bytes at once")
        require(whole == outcomes(input, pieces: 7), "bytes in sevens are other requests than bytes at once")
    }

    private static let head = Array("PUT /v1/a/records/c/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)

    /// Parses a chunked body of any bytes, and a body whose chunks are made of the input.
    static func parseChunks(_ input: [UInt8]) {
        parse(head + input)
        let body = Array(input.prefix(limits.bodyBytes))
        var chunks = head
        var start = 0
        while start < body.count {
            // The sizes of the chunks come from the input too.
            let size = min(1 + Int(body[start]) % 97, body.count - start)
            chunks += Array("\(String(size, radix: 16))\r\n".utf8) + body[start..<start + size] + Array("\r\n".utf8)
            start += size
        }
        chunks += Array("0\r\n\r\n".utf8)
        var parser = RequestParser(limits: ParserLimits(headerBytes: 2_048, targetBytes: 512, bodyBytes: limits.bodyBytes))
        var position = 0
        var read: [UInt8]?
        while read == nil, position < chunks.count {
            switch parser.consume(chunks.span, from: &position) {
            case .request(let request): read = request.body
            case .failure(let failure): fatalError("generated chunks are refused: \(failure.detail)")
            case .incomplete, .body: break
            }
        }
        require(read == body, "generated chunks give another body")
    }

    /// Parses a key in a path, and any bytes in its place.
    static func parsePath(_ input: [UInt8]) {
        parse(Array("GET /v1/a/records/c/".utf8) + input + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        guard let namespace = try? Namespace("a"), let key = try? RecordKey(collection: "c", id: String(decoding: input, as: UTF8.self)) else {
            return
        }
        let path = Array(namespace.path(of: key).utf8)
        let prefix = "/v1/a/records/c/".utf8.count
        require(path.count > prefix, "a path without an id")
        require(path.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, "a path that is no path")
        require(FreshetSocketHTTP.PercentEncoding.decode(path.span, prefix..<path.count) == Array(key.id.utf8), "a path leads to another record")
    }
}
