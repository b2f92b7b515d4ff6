/// A request line, RFC 9112 §3, as ranges of the head's bytes.
struct RequestLine: Sendable {
    let method: RequestMethod
    var methodRange: Range<Int>
    var target: Range<Int>
    /// Empty for the asterisk form.
    var path: Range<Int>
    /// Without its `?`; nil where the target has none.
    var query: Range<Int>?
    /// Whether the client speaks HTTP/1.0.
    var isHTTP10: Bool

    /// Parses the line in `range`, which excludes its CRLF.
    init(_ bytes: Span<UInt8>, _ range: Range<Int>, targetLimit: Int) throws(RequestFailure) {
        guard let methodEnd = bytes.firstIndex(of: .space, in: range) else {
            throw RequestFailure(.malformed, "The request line is not a method, a target and a version")
        }
        let methodRange = range.lowerBound..<methodEnd
        guard !methodRange.isEmpty else { throw RequestFailure(.malformed, "The request line starts with a space") }
        for index in methodRange where !ByteSet.token.contains(bytes[index]) {
            throw RequestFailure(.malformed, "The method is not a token")
        }
        method = RequestMethod(bytes, methodRange)
        self.methodRange = methodRange

        let targetEnd = bytes.firstIndex(of: .space, in: methodEnd + 1..<range.upperBound) ?? range.upperBound
        guard targetEnd - methodEnd - 1 <= targetLimit else {
            throw RequestFailure(.targetTooLong, "The request target is longer than \(targetLimit) bytes")
        }
        guard targetEnd < range.upperBound else {
            throw RequestFailure(.malformed, "The request line has no HTTP version")
        }
        isHTTP10 = try RequestLine.isHTTP10(bytes, targetEnd + 1..<range.upperBound)
        target = methodEnd + 1..<targetEnd
        (path, query) = try RequestLine.split(bytes, target, method)
        try PercentEncoding.check(bytes, path)
        if let query { try PercentEncoding.check(bytes, query) }
    }

    /// Any minor version of HTTP/1 above 0 is served as 1.1 (RFC 9110 §2.5).
    private static func isHTTP10(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestFailure) -> Bool {
        let start = range.lowerBound
        guard range.count == 8, bytes.equals(start..<start + 5, "HTTP/"), bytes[start + 6] == UInt8(ascii: "."),
            bytes[start + 5].isDigit, bytes[start + 7].isDigit
        else { throw RequestFailure(.malformed, "The request line does not end with an HTTP version") }
        guard bytes[start + 5] == UInt8(ascii: "1") else {
            throw RequestFailure(.versionNotSupported, "This server speaks HTTP/1.1 and HTTP/1.0")
        }
        return bytes[start + 7] == UInt8(ascii: "0")
    }

    /// Finds path and query in a target of the origin, absolute or asterisk form (RFC 9112 §3.2).
    private static func split(
        _ bytes: Span<UInt8>, _ target: Range<Int>, _ method: RequestMethod
    ) throws(RequestFailure) -> (path: Range<Int>, query: Range<Int>?) {
        guard !target.isEmpty else { throw RequestFailure(.malformed, "The request target is empty") }
        for index in target where !ByteSet.target.contains(bytes[index]) {
            throw RequestFailure(.malformed, "The request target holds a byte that must be percent-encoded")
        }
        var start = target.lowerBound
        if bytes[start] != UInt8(ascii: "/") {
            if target.count == 1, bytes[start] == UInt8(ascii: "*"), method == .options {
                return (start..<start, nil)
            }
            // The authority form belongs to CONNECT, which the router refuses with 501.
            if method == .connect { return (start..<start, nil) }
            start = try endOfAuthority(bytes, target)
        }
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?"), in: start..<target.upperBound) else {
            return (start..<target.upperBound, nil)
        }
        return (start..<mark, mark + 1..<target.upperBound)
    }

    /// The host and port of an absolute target; `nil` for the other forms.
    func authority(_ bytes: Span<UInt8>) -> Range<Int>? {
        guard method != .connect, path.lowerBound > target.lowerBound + 1, bytes[target.lowerBound] != UInt8(ascii: "/") else { return nil }
        let scheme = bytes.matches(target.lowerBound..<target.lowerBound + 7, "http://") ? 7 : 8
        return target.lowerBound + scheme..<path.lowerBound
    }

    private static func endOfAuthority(_ bytes: Span<UInt8>, _ target: Range<Int>) throws(RequestFailure) -> Int {
        let start = target.lowerBound
        var authority = start
        if target.count > 7, bytes.matches(start..<start + 7, "http://") {
            authority = start + 7
        } else if target.count > 8, bytes.matches(start..<start + 8, "https://") {
            authority = start + 8
        }
        var end = authority
        while end < target.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end += 1 }
        guard authority > start, end > authority else {
            throw RequestFailure(.malformed, "The request target is neither a path nor an http URL")
        }
        for index in authority..<end where !ByteSet.host.contains(bytes[index]) {
            throw RequestFailure(.malformed, "The request target's host is not valid")
        }
        return end
    }
}

extension Span<UInt8> {
    /// Whether the bytes in `range` equal `text` exactly.
    @inline(__always)
    func equals(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { expected in
            for offset in 0..<expected.count where self[range.lowerBound + offset] != expected[offset] { return false }
            return true
        }
    }
}
