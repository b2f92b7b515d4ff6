/// How a request's body is delimited.
enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked
}

/// Gathers the fields that decide a message's framing and whether its connection stays open, and refuses ambiguous
/// messages: a request that two parsers would delimit differently is how requests are smuggled (RFC 9112 §11.2).
struct MessageFraming: Sendable {
    private var length: Int?
    private var hasHost = false
    private var hasTransferCoding = false
    private var endsChunked = false
    private var hasUnknownCoding = false
    private var asksClose = false
    private var asksKeepAlive = false
    private(set) var expectsContinue = false
    private(set) var hasOrigin = false

    /// Records one field line.
    mutating func note(_ line: FieldLine, _ bytes: Span<UInt8>) throws(RequestFailure) {
        switch line.name.count {
        case 4 where bytes.matches(line.name, "host"): try noteHost(bytes, line.value)
        case 6 where bytes.matches(line.name, "expect"): try noteExpectation(bytes, line.value)
        case 6 where bytes.matches(line.name, "origin"): hasOrigin = true
        case 10 where bytes.matches(line.name, "connection"): noteConnection(bytes, line.value)
        case 14 where bytes.matches(line.name, "content-length"): try noteLength(bytes, line.value)
        case 17 where bytes.matches(line.name, "transfer-encoding"): try noteTransferCoding(bytes, line.value)
        default: break
        }
    }

    /// Decides once all lines are in.
    func body(isHTTP10: Bool, limit: Int) throws(RequestFailure) -> BodyFraming {
        guard hasHost || isHTTP10 else { throw RequestFailure(.malformed, "An HTTP/1.1 request needs a Host field") }
        guard hasTransferCoding else {
            guard let length, length > 0 else { return .none }
            guard length <= limit else { throw RequestFailure(.bodyTooLarge, "The body is larger than \(limit) bytes") }
            return .length(length)
        }
        guard length == nil else {
            throw RequestFailure(.malformed, "A request has both Content-Length and Transfer-Encoding")
        }
        guard !isHTTP10 else { throw RequestFailure(.malformed, "HTTP/1.0 has no Transfer-Encoding") }
        guard !hasUnknownCoding else {
            throw RequestFailure(.codingNotImplemented, "The only transfer coding served is chunked")
        }
        return .chunked
    }

    /// Whether the client wants the connection to outlive this exchange (RFC 9112 §9.3).
    func keepsAlive(isHTTP10: Bool) -> Bool {
        !asksClose && (!isHTTP10 || asksKeepAlive)
    }

    private mutating func noteHost(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(RequestFailure) {
        guard !hasHost else { throw RequestFailure(.malformed, "A request has more than one Host field") }
        for index in value where !ByteSet.host.contains(bytes[index]) {
            throw RequestFailure(.malformed, "The Host field is not a host")
        }
        hasHost = true
    }

    private mutating func noteExpectation(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(RequestFailure) {
        guard bytes.matches(value, "100-continue") else {
            throw RequestFailure(.expectationFailed, "The only expectation served is 100-continue")
        }
        expectsContinue = true
    }

    private mutating func noteConnection(_ bytes: Span<UInt8>, _ value: Range<Int>) {
        var list = FieldList(value)
        while let option = list.next(bytes) {
            if bytes.matches(option, "close") { asksClose = true }
            if bytes.matches(option, "keep-alive") { asksKeepAlive = true }
        }
    }

    /// One length, in digits alone. RFC 9110 §8.6 would allow repeated equal lengths; no client needs them.
    private mutating func noteLength(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(RequestFailure) {
        guard length == nil else { throw RequestFailure(.malformed, "A request has more than one Content-Length") }
        guard !value.isEmpty else { throw RequestFailure(.malformed, "Content-Length is empty") }
        var sum = 0
        for index in value {
            guard bytes[index].isDigit else { throw RequestFailure(.malformed, "Content-Length is not a number") }
            let (product, overflow) = sum.multipliedReportingOverflow(by: 10)
            let (next, carry) = product.addingReportingOverflow(Int(bytes[index] - 0x30))
            guard !overflow, !carry else { throw RequestFailure(.malformed, "Content-Length is beyond any number") }
            sum = next
        }
        length = sum
    }

    private mutating func noteTransferCoding(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(RequestFailure) {
        hasTransferCoding = true
        var list = FieldList(value)
        var isEmpty = true
        while let coding = list.next(bytes) {
            isEmpty = false
            guard !endsChunked else { throw RequestFailure(.malformed, "chunked is not the last transfer coding") }
            if bytes.matches(coding, "chunked") { endsChunked = true } else { hasUnknownCoding = true }
        }
        guard !isEmpty else { throw RequestFailure(.malformed, "Transfer-Encoding is empty") }
    }
}
