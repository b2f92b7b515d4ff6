/// Parses a request's head line by line over bytes that grow at their end; resumes where it stopped, so that a head
/// which arrives byte by byte costs no more than one which arrives whole.
struct HeadParser: Sendable {
    private var lineStart = 0
    private var searched = 0
    /// Where the head begins, after empty lines before it.
    private var start = 0
    private var line: RequestLine?
    private var fieldsStart = 0
    private var framing = MessageFraming()

    /// Whether a byte of a request has arrived. An empty line before it is none, nor is the carriage return of one: otherwise
    /// such lines, cut in two, would begin a time-out again and again.
    private(set) var hasBegun = false

    /// Whether nothing has arrived that has to be kept: no byte of a request, and no part of an empty line.
    var isPristine: Bool { line == nil && searched <= start }

    /// Parses `bytes`, which begin with what earlier calls were given.
    ///
    /// Returns the end of the head, just after its blank line, or nil where more is needed.
    mutating func advance(_ bytes: Span<UInt8>, _ limits: ParserLimits) throws(RequestFailure) -> Int? {
        while let feed = bytes.firstIndex(of: .lineFeed, in: searched..<bytes.count) {
            guard feed > lineStart, bytes[feed - 1] == .carriageReturn else {
                throw RequestFailure(.malformed, "A line ends with a bare line feed")
            }
            let range = lineStart..<feed - 1
            searched = feed + 1
            lineStart = searched
            if line == nil {
                try takeFirstLine(bytes, range, limits)
            } else if range.isEmpty {
                try checkSize(upTo: lineStart, limits)
                return lineStart
            } else {
                try takeFieldLine(bytes, range, limits)
            }
        }
        searched = bytes.count
        try checkUnfinishedLine(bytes, limits)
        hasBegun = line != nil
        if line == nil, lineStart < bytes.count { hasBegun = bytes[lineStart] != .carriageReturn }
        return nil
    }

    /// The head that ends at `end`; `bytes` are those that `advance` was given.
    func head(_ bytes: Span<UInt8>, upTo end: Int, _ limits: ParserLimits) throws(RequestFailure) -> RequestHead {
        guard var line else { throw RequestFailure(.malformed, "The request has no request line") }
        let body: BodyFraming
        do throws(RequestFailure) { body = try framing.body(isHTTP10: line.isHTTP10, limit: limits.bodyBytes) } catch {
            throw error.at(bytes.text(line.path))
        }
        line.shift(by: start)
        return RequestHead(
            bytes: bytes.copy(start..<end),
            line: line,
            fieldsStart: fieldsStart - start,
            body: body,
            keepsAlive: framing.keepsAlive(isHTTP10: line.isHTTP10),
            // RFC 9110 §10.1.1: HTTP/1.0 does not know it, and without a body there is nothing to wait for.
            expectsContinue: framing.expectsContinue && !line.isHTTP10 && body != .none,
            hasOrigin: framing.hasOrigin
        )
    }

    private mutating func takeFirstLine(_ bytes: Span<UInt8>, _ range: Range<Int>, _ limits: ParserLimits) throws(RequestFailure) {
        guard !range.isEmpty else {
            // RFC 9112 §2.2: an empty line before the request line is ignored.
            start = lineStart
            return
        }
        line = try RequestLine(bytes, range, targetLimit: limits.targetBytes)
        fieldsStart = lineStart
    }

    private mutating func takeFieldLine(_ bytes: Span<UInt8>, _ range: Range<Int>, _ limits: ParserLimits) throws(RequestFailure) {
        try checkSize(upTo: lineStart, limits)
        try framing.note(FieldLine(bytes, range), bytes)
    }

    private func checkSize(upTo end: Int, _ limits: ParserLimits) throws(RequestFailure) {
        guard end - fieldsStart <= limits.headerBytes else {
            throw RequestFailure(.headersTooLarge, "The field lines are larger than \(limits.headerBytes) bytes")
        }
    }

    /// Refuses a line before its end where no end could save it.
    private func checkUnfinishedLine(_ bytes: Span<UInt8>, _ limits: ParserLimits) throws(RequestFailure) {
        guard line == nil else { return try checkSize(upTo: bytes.count, limits) }
        guard lineStart < bytes.count else { return }
        guard bytes[lineStart] != .carriageReturn else {
            // The first half of an empty line: a request does not begin with this byte.
            guard bytes.count == lineStart + 1 else {
                throw RequestFailure(.malformed, "A carriage return is not followed by a line feed")
            }
            return
        }
        guard ByteSet.token.contains(bytes[lineStart]) else {
            throw RequestFailure(.malformed, "The bytes are not an HTTP request")
        }
        let slack = 64
        guard bytes.count - lineStart <= limits.targetBytes + slack else {
            throw RequestFailure(.targetTooLong, "The request line is longer than a target of \(limits.targetBytes) bytes")
        }
    }
}

extension RequestLine {
    /// Moves all ranges back by `distance`.
    fileprivate mutating func shift(by distance: Int) {
        guard distance > 0 else { return }
        methodRange = methodRange.lowerBound - distance..<methodRange.upperBound - distance
        target = target.lowerBound - distance..<target.upperBound - distance
        path = path.lowerBound - distance..<path.upperBound - distance
        query = query.map { $0.lowerBound - distance..<$0.upperBound - distance }
    }
}
