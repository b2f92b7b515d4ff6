internal import FreshetPlatform
import FreshetSocketHTTP
import FreshetWire

/// The query's parameters, checked: a bad value of a known parameter is a problem, an unknown parameter is ignored.
struct Parameters: Sendable {
    private let query: Query

    init(_ request: Request) { query = request.query }

    func text(_ name: String) -> String? { query[name] }

    func texts(_ name: String) -> [String] { query.values(of: name) }

    /// A whole number within the range.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), range.contains(number) else {
            throw Self.wrong(name, text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func boolean(_ name: String) throws(Problem) -> Bool? {
        guard let text = query[name] else { return nil }
        if ByteIdentity.areEqual(text, "true") { return true }
        if ByteIdentity.areEqual(text, "false") { return false }
        throw Self.wrong(name, text, "true or false")
    }

    /// The beginning of an id, under the rules for ids.
    func prefix() throws(WireError) -> String { try RecordKey.check(prefix: query["prefix"] ?? "") }

    /// The device whose last decided write the response states.
    func client() throws(WireError) -> ClientIdentifier? {
        guard let text = query["client"] else { return nil }
        return try ClientIdentifier(text)
    }

    static func wrong(_ name: String, _ text: String, _ right: String) -> Problem {
        Problem(.invalidRequest, "The parameter '\(name)' is '\(text.shortened)': it takes \(right)")
    }
}
