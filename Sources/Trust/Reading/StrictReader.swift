internal import FreshetWire

/// Reads JSON that people or other systems wrote about rights: an unknown member is an error, and each error names its
/// byte.
///
/// As ``JSONReader`` with ``JSONReader/Profile/interoperable``: no duplicate members, no lone surrogates, bounded
/// depth.
struct StrictReader {
    private let bytes: [UInt8]
    private var reader: JSONReader
    /// The place of the value that was read last.
    private(set) var start = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        reader = JSONReader(bytes, profile: .interoperable)
    }

    /// An error at the value that was read last.
    func fail(_ reason: String) -> TrustError { .invalidValue(offset: start, reason) }

    /// Reads an object's members. `read` takes the value of the member with the name, or returns `false` if it has none
    /// such: the error then lists `known`.
    mutating func object(
        _ known: String, _ read: (JSONName, inout StrictReader) throws(TrustError) -> Bool
    ) throws(TrustError) {
        let begin = next(from: reader.position)
        try take { reader throws(WireError) in try reader.beginObject() }
        while true {
            let place = next(from: reader.position, after: UInt8(ascii: ","))
            guard let name = try take({ reader throws(WireError) in try reader.nextMember() }) else { break }
            guard try read(name, &self) else {
                throw .invalidValue(offset: place, "'\(name.text.shortened)' is unknown here, which takes \(known)")
            }
        }
        start = begin
    }

    /// Reads an array of at most `limit` elements, which `what` names in the plural.
    mutating func array(
        atMost limit: Int, _ what: String, _ read: (inout StrictReader) throws(TrustError) -> Void
    ) throws(TrustError) {
        let begin = next(from: reader.position)
        try take { reader throws(WireError) in try reader.beginArray() }
        var count = 0
        while try take({ reader throws(WireError) in try reader.nextElement() }) {
            guard count < limit else { throw .invalidValue(offset: begin, "there are more than \(limit) \(what): remove some") }
            count += 1
            try read(&self)
        }
        start = begin
    }

    /// A string of at least one byte.
    mutating func text() throws(TrustError) -> String {
        let text = try string()
        guard !text.utf8.isEmpty else { throw fail("the text is empty: give one, or leave the member out") }
        return text
    }

    mutating func string() throws(TrustError) -> String { try value { reader throws(WireError) in try reader.string() } }
    mutating func integer() throws(TrustError) -> Int64 { try value { reader throws(WireError) in try reader.integer() } }
    mutating func boolean() throws(TrustError) -> Bool { try value { reader throws(WireError) in try reader.boolean() } }
    mutating func skip() throws(TrustError) { try value { reader throws(WireError) in try reader.skip() } }

    /// The next value's bytes as they are, and their place.
    mutating func raw() throws(TrustError) -> (json: [UInt8], offset: Int) {
        let json = try value { reader throws(WireError) in try reader.rawValue() }
        return (json, start)
    }

    /// A whole number within `range`.
    mutating func integer(_ range: ClosedRange<Int64>) throws(TrustError) -> Int64 {
        let value = try integer()
        guard range.contains(value) else { throw fail("\(value) is out of range: it takes \(range.lowerBound) to \(range.upperBound)") }
        return value
    }

    /// The first byte of the next value; `nil` at the end.
    func peek() -> UInt8? {
        let index = next(from: reader.position)
        return index < bytes.count ? bytes[index] : nil
    }

    /// Throws unless only white space remains.
    mutating func end() throws(TrustError) { try take { reader throws(WireError) in try reader.end() } }

    private mutating func value<Value>(_ read: (inout JSONReader) throws(WireError) -> Value) throws(TrustError) -> Value {
        start = next(from: reader.position)
        return try take(read)
    }

    private mutating func take<Value>(_ read: (inout JSONReader) throws(WireError) -> Value) throws(TrustError) -> Value {
        let place = next(from: reader.position)
        do { return try read(&reader) } catch {
            if case .invalidJSON(let offset, let reason) = error { throw .invalidJSON(offset: offset, "invalid JSON: \(reason)") }
            throw .invalidJSON(offset: place, error.description)
        }
    }

    /// The place of the next byte that is not white space, behind one `separator` if it stands there.
    private func next(from position: Int, after separator: UInt8? = nil) -> Int {
        var index = position
        func skipSpace() { while index < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[index]) { index += 1 } }
        skipSpace()
        if let separator, index < bytes.count, bytes[index] == separator {
            index += 1
            skipSpace()
        }
        return index
    }
}
