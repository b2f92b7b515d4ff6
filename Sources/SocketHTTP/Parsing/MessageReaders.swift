/// Separates the requests in a stream of bytes by the server's own rules, for a proxy in front of a server.
package struct RequestReader: Sendable {
    package enum Outcome: Sendable {
        case incomplete
        /// The client waits for `100 Continue` before it sends the body. Go on reading.
        case expectsContinue
        /// A whole request. The next one begins behind it.
        case request(RequestHead)
        /// A server refuses the bytes; where the next request would begin is unknown.
        case failure
    }

    private var parser: RequestParser

    /// - Parameter limits: those of the server.
    package init(_ limits: Limits) { parser = RequestParser(limits: ParserLimits(limits)) }

    /// Reads from `position` on, which it moves, up to the next outcome. O(n) in the bytes read.
    package mutating func read(_ bytes: [UInt8], from position: inout Int) -> Outcome {
        switch parser.consume(bytes.span, from: &position) {
        case .incomplete: .incomplete
        case .body(let head): head.expectsContinue ? .expectsContinue : .incomplete
        case .request(let request): .request(request.head)
        case .failure: .failure
        }
    }
}

/// Finds the end of a chunked body, without its content.
package struct ChunkedBodyReader: Sendable {
    private var parser = ChunkedBodyParser()
    private var content: [UInt8] = []

    package init() {}

    /// Reads from `position` on, which it moves. Returns whether the body has ended there. O(n) in the bytes read.
    package mutating func read(_ bytes: [UInt8], from position: inout Int) throws(RequestFailure) -> Bool {
        defer { content.removeAll(keepingCapacity: true) }
        return try parser.advance(
            bytes.span, &position, into: &content, ParserLimits(headerBytes: .max, targetBytes: .max, bodyBytes: .max))
    }
}

extension RequestHead {
    /// The path as it was sent, still percent-encoded.
    package var path: String { text(line.path) }

    package var isHTTP10: Bool { line.isHTTP10 }

    /// The value of the first line of a field, whose name is in lower case.
    package func value(of name: String) -> String? {
        var value: String?
        forEachValue(name) { bytes, range in
            value = bytes.text(range)
            return false
        }
        return value
    }
}
