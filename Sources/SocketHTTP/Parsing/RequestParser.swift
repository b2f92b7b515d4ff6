/// An incremental parser of HTTP/1 requests (RFC 9112): bytes in, one outcome out. It does no I/O and keeps no time.
///
/// Its strictness is that of the RFC wherever leniency would let two parsers disagree about where a request ends.
struct RequestParser: Sendable {
    /// The result of the bytes given so far.
    enum Outcome: Sendable {
        /// More bytes are needed.
        case incomplete
        /// The head of a request is complete whose body is large, or whose client waits for `100 Continue`: the request may be
        /// refused before its body is received. At most once for a request. Go on consuming.
        case body(RequestHead)
        /// A whole request. The parser is ready for the next.
        case request(ParsedRequest)
        /// The bytes are refused; where the next request would begin is unknown, so the connection must close.
        case failure(RequestFailure)
    }

    /// Where in a request the parser stands; it decides which time-out applies.
    enum Progress: Sendable, Equatable {
        case betweenRequests
        case inHead
        case inBody
    }

    private enum Stage {
        case head
        case fixed(RequestHead, remaining: Int)
        case chunked(RequestHead, ChunkedBodyParser)
        case failed(RequestFailure)
    }

    private static let initialCapacity = 64 << 10
    /// The bytes of a body after which the rest of its stated length is reserved. The system has such a block in address space, and
    /// in memory only as far as it is written.
    private static let believedBytes = 1 << 20

    private let limits: ParserLimits
    private var stage = Stage.head
    private var headParser = HeadParser()
    /// The part of a head that arrived in earlier pieces; empty while heads arrive whole.
    private var pending: [UInt8] = []
    private var body: [UInt8] = []

    init(limits: ParserLimits) {
        self.limits = limits
    }

    var progress: Progress {
        switch stage {
        case .head: headParser.hasBegun ? .inHead : .betweenRequests
        case .fixed, .chunked: .inBody
        case .failed: .betweenRequests
        }
    }

    /// Bytes of the request that it keeps, of its head and an unfinished trailer too.
    var heldBytes: Int {
        switch stage {
        case .head, .failed: pending.count + body.count
        case .fixed(let head, _): head.bytes.count + body.count
        case .chunked(let head, let parser): head.bytes.count + body.count + parser.heldBytes
        }
    }

    /// Whether the parser holds nothing and is equivalent to a new one.
    var isFresh: Bool {
        if case .head = stage { return pending.isEmpty && headParser.isPristine }
        return false
    }

    /// Consumes bytes of `input` from `position` on, which it moves, up to the next outcome.
    mutating func consume(_ input: Span<UInt8>, from position: inout Int) -> Outcome {
        do throws(RequestFailure) {
            switch stage {
            case .head: return try consumeHead(input, &position)
            case .fixed(let head, let remaining): return consumeFixed(input, &position, head, remaining)
            case .chunked(let head, let parser): return try consumeChunked(input, &position, head, parser)
            case .failed(let failure): throw failure
            }
        } catch {
            stage = .failed(error)
            return .failure(error)
        }
    }

    private mutating func consumeHead(_ input: Span<UInt8>, _ position: inout Int) throws(RequestFailure) -> Outcome {
        if pending.isEmpty {
            // The usual case: the whole head lies in the input, and is copied once, at its exact size.
            let bytes = input.extracting(position..<input.count)
            guard let end = try headParser.advance(bytes, limits) else {
                position = input.count
                // Empty lines before a request are not the beginning of one.
                if headParser.isPristine { headParser = HeadParser() } else { pending = bytes.copy(0..<bytes.count) }
                return .incomplete
            }
            position += end
            return try finishHead(headParser.head(bytes, upTo: end, limits))
        }
        let earlier = pending.count
        // One byte over the limits is enough for a refusal.
        let room = limits.headerBytes + limits.targetBytes + 128
        let taken = min(input.count - position, max(room - earlier, 1))
        input.append(position..<position + taken, to: &pending)
        let head = pending
        guard let end = try headParser.advance(head.span, limits) else {
            position += taken
            if headParser.isPristine { (pending, headParser) = ([], HeadParser()) }
            return .incomplete
        }
        position += end - earlier
        return try finishHead(headParser.head(head.span, upTo: end, limits))
    }

    private mutating func finishHead(_ head: RequestHead) -> Outcome {
        pending = []
        headParser = HeadParser()
        switch head.body {
        case .none:
            return .request(ParsedRequest(head: head, body: []))
        case .length(let length):
            stage = .fixed(head, remaining: length)
            // The length that a client claims is not allocated in advance: the body grows as it arrives.
            body.reserveCapacity(min(length, Self.initialCapacity))
            if length > MemoryLedger.large { return .body(head) }
        case .chunked:
            stage = .chunked(head, ChunkedBodyParser())
        }
        return head.expectsContinue ? .body(head) : .incomplete
    }

    private mutating func consumeFixed(
        _ input: Span<UInt8>, _ position: inout Int, _ head: RequestHead, _ remaining: Int
    ) -> Outcome {
        let count = min(remaining, input.count - position)
        // A client that has sent so much is believed. Doubling would copy the body twice more, and return and take as much
        // memory: a body of 16 MiB took 24 ms of processor time so, and takes 18.
        if body.count >= Self.believedBytes { body.reserveCapacity(body.count + remaining) }
        input.append(position..<position + count, to: &body)
        position += count
        guard count < remaining else { return finishBody(head) }
        stage = .fixed(head, remaining: remaining - count)
        return .incomplete
    }

    private mutating func consumeChunked(
        _ input: Span<UInt8>, _ position: inout Int, _ head: RequestHead, _ parser: ChunkedBodyParser
    ) throws(RequestFailure) -> Outcome {
        var parser = parser
        let earlier = body.count
        let isComplete: Bool
        do throws(RequestFailure) { isComplete = try parser.advance(input, &position, into: &body, limits) } catch {
            throw error.at(head.text(head.line.path))
        }
        guard !isComplete else { return finishBody(head) }
        stage = .chunked(head, parser)
        let isLarge = body.count > MemoryLedger.large && earlier <= MemoryLedger.large
        return isLarge && !head.expectsContinue ? .body(head) : .incomplete
    }

    private mutating func finishBody(_ head: RequestHead) -> Outcome {
        let request = ParsedRequest(head: head, body: body)
        body = []
        stage = .head
        return .request(request)
    }
}

/// A whole request as the parser saw it.
struct ParsedRequest: Sendable {
    let head: RequestHead
    let body: [UInt8]
}

/// The limits that the parser needs.
struct ParserLimits: Sendable {
    let headerBytes: Int
    let targetBytes: Int
    let bodyBytes: Int
}

extension ParserLimits {
    init(_ limits: Limits) {
        self.init(headerBytes: limits.headerBytes, targetBytes: limits.targetBytes, bodyBytes: limits.bodyBytes)
    }
}
