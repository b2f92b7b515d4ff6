internal import FreshetPlatform

/// A parsed JSON value, for the two operations that must look inside: merge patch and increment.
///
/// Members keep their order and numbers their spelling, so that an operation leaves all other parts as they were.
package indirect enum JSONDocument: Hashable, Sendable {
    case null
    case boolean(Bool)
    /// The number as it is written.
    case number(String)
    case string(String)
    case array([JSONDocument])
    case object([Member])

    /// A name and its value.
    package struct Member: Hashable, Sendable {
        package var name: String
        package var value: JSONDocument

        package init(name: String, value: JSONDocument) {
            self.name = name
            self.value = value
        }
    }

    /// - Throws: ``WireError/invalidJSON(offset:reason:)``.
    package init(_ bytes: [UInt8]) throws(WireError) {
        var reader = JSONReader(bytes)
        self = try Self.read(&reader, depth: 0)
        try reader.end()
    }

    /// The shortest spelling: no white space.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    private static func read(_ reader: inout JSONReader, depth: Int) throws(WireError) -> JSONDocument {
        guard depth < JSONReader.maximumDepth else {
            throw reader.fail("values are nested deeper than \(JSONReader.maximumDepth) levels")
        }
        switch reader.peek() {
        case UInt8(ascii: "{"):
            var members: [Member] = []
            // Places by name, so that the last of equal names wins in O(1) each.
            var places: [ByteIdentity.Name: Int] = [:]
            try reader.beginObject()
            while let name = try reader.nextMember() {
                let name = name.text
                let value = try read(&reader, depth: depth + 1)
                if let place = places[ByteIdentity.Name(text: name)] {
                    members[place].value = value
                } else {
                    places[ByteIdentity.Name(text: name)] = members.count
                    members.append(Member(name: name, value: value))
                }
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONDocument] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try read(&reader, depth: depth + 1)) }
            return .array(elements)
        case UInt8(ascii: "\""): return .string(try reader.string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean(try reader.boolean())
        case UInt8(ascii: "n"):
            _ = try reader.takeNull()
            return .null
        default: return .number(try reader.number())
        }
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .boolean(let value): writer.boolean(value)
        case .number(let literal): writer.raw(literal.utf8)
        case .string(let text): writer.string(text)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.member(member.name)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }
}
