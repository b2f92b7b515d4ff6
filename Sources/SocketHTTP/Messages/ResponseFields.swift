public import HTTPTypes

/// The field lines of a response, kept as the bytes that go out, so that sending them is a copy.
///
/// The fields that frame a message (`Content-Length`, `Transfer-Encoding`, `Connection`) and `Date` belong to the server,
/// which knows them better; they are ignored here. In a value, bytes that would end the line become spaces.
public struct ResponseFields: Sendable, Equatable {
    /// Each line with its CRLF.
    var lines: [UInt8] = []

    /// No fields.
    public init() {}

    /// The fields of `fields`, in order.
    public init(_ fields: HTTPFields) {
        for field in fields { append(field.name, field.value) }
    }

    /// Adds a line, whether or not there is one of that name.
    public mutating func append(_ name: HTTPField.Name, _ value: String) {
        guard !ResponseFields.isOwnedByServer(name) else { return }
        var (name, value) = (name.rawName, value)
        name.withUTF8 { name in value.withUTF8 { append(name, $0) } }
    }

    private mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        let needed = lines.count + name.count + value.count + 4
        // Room for the fields of most responses at once.
        if lines.capacity < needed { lines.reserveCapacity(max(needed, 2 * lines.capacity, 256)) }
        lines.append(contentsOf: name)
        lines.append(UInt8(ascii: ":"))
        lines.append(.space)
        lines.append(contentsOf: value)
        lines.append(.carriageReturn)
        lines.append(.lineFeed)
        for index in needed - value.count - 2..<needed - 2 where !lines[index].isFieldContent { lines[index] = .space }
    }

    /// The value of the first line of that name. Setting it replaces all of them, and nil removes them.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            let line = ranges(of: name).first
            return line.map { lines.span.text($0.lowerBound + name.rawName.utf8.count + 2..<$0.upperBound - 2) }
        }
        set {
            for range in ranges(of: name).reversed() { lines.removeSubrange(range) }
            if let newValue { append(name, newValue) }
        }
    }

    /// The lines named `name`, each with its CRLF.
    private func ranges(of name: HTTPField.Name) -> [Range<Int>] {
        let prefix = Array("\(name.canonicalName):".utf8)
        var found: [Range<Int>] = []
        var start = 0
        while start < lines.count, let end = lines.span.firstIndex(of: .lineFeed, in: start..<lines.count) {
            if lines[start...end].prefix(prefix.count).elementsEqual(prefix, by: { $0.lowercased == $1 }) {
                found.append(start..<end + 1)
            }
            start = end + 1
        }
        return found
    }

    static func isOwnedByServer(_ name: HTTPField.Name) -> Bool {
        // Lengths first: the names of most fields need not be compared.
        switch name.canonicalName.utf8.count {
        case 4: name.canonicalName == "date"
        case 10: name.canonicalName == "connection"
        case 14: name.canonicalName == "content-length"
        case 17: name.canonicalName == "transfer-encoding"
        default: false
        }
    }
}

extension ResponseFields: ExpressibleByDictionaryLiteral {
    /// One line for each element, in order.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        for (name, value) in elements { append(name, value) }
    }
}
