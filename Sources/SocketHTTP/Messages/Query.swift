/// The query of a request, read in place: `name=value` pairs joined with `&`.
///
/// Names and values are percent-decoded. `+` is a plus sign, as RFC 3986 has it, and not a space, which only HTML forms
/// mean by it; a query with a bad escape, `%00` or invalid UTF-8 never gets here (`400`).
public struct Query: Sendable {
    let bytes: [UInt8]
    let range: Range<Int>

    /// The value of the first pair of that name; empty where the name stands without a value, nil where it does not stand.
    public subscript(name: String) -> String? {
        var result: String?
        forEachPair { bytes, key, value in
            guard PercentEncoding.matches(bytes, key, name) else { return true }
            result = PercentEncoding.text(bytes, value)
            return false
        }
        return result
    }

    /// Where the value of the first pair of that name is in the head, still percent-encoded.
    func range(of name: String) -> Range<Int>? {
        var result: Range<Int>?
        forEachPair { bytes, key, value in
            guard PercentEncoding.matches(bytes, key, name) else { return true }
            result = value
            return false
        }
        return result
    }

    /// The values of all pairs of that name, in order.
    public func values(of name: String) -> [String] {
        var result: [String] = []
        forEachPair { bytes, key, value in
            if PercentEncoding.matches(bytes, key, name) { result.append(PercentEncoding.text(bytes, value)) }
            return true
        }
        return result
    }

    /// All names, in order, each as often as it stands.
    public var names: [String] {
        var result: [String] = []
        forEachPair { bytes, key, _ in
            result.append(PercentEncoding.text(bytes, key))
            return true
        }
        return result
    }

    private func forEachPair(_ body: (Span<UInt8>, _ name: Range<Int>, _ value: Range<Int>) -> Bool) {
        let bytes = bytes.span
        var start = range.lowerBound
        while start < range.upperBound {
            let end = bytes.firstIndex(of: UInt8(ascii: "&"), in: start..<range.upperBound) ?? range.upperBound
            if end > start {
                let equals = bytes.firstIndex(of: UInt8(ascii: "="), in: start..<end) ?? end
                guard body(bytes, start..<equals, min(equals + 1, end)..<end) else { return }
            }
            start = end + 1
        }
    }
}

extension Request {
    /// The query: `request.query["since"]`.
    public var query: Query {
        Query(bytes: head.bytes, range: head.line.query ?? 0..<0)
    }

    /// The values of all the query's pairs of that name, in order.
    public func queryValues(_ name: String) -> [String] { query.values(of: name) }
}
