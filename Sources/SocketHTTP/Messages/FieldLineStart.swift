public import HTTPTypes

/// The beginning of a field line that many responses have, `Name: `, made once.
public struct FieldLineStart: Hashable, Sendable {
    let bytes: [UInt8]

    /// `nil` for a field that belongs to the server; see ``ResponseFields``.
    public init?(_ name: HTTPField.Name) {
        guard !ResponseFields.isOwnedByServer(name) else { return nil }
        bytes = Array("\(name.rawName): ".utf8)
    }
}

extension ResponseFields {
    /// Adds a line, its value written where it goes out from rather than as a text of its own.
    public mutating func append(_ start: FieldLineStart, _ write: (inout [UInt8]) -> Void) {
        lines.append(contentsOf: start.bytes)
        let valueStart = lines.count
        write(&lines)
        for index in valueStart..<lines.count where !lines[index].isFieldContent { lines[index] = .space }
        lines.append(.carriageReturn)
        lines.append(.lineFeed)
    }

    /// Makes room for lines of that many bytes more.
    public mutating func reserve(_ count: Int) { lines.reserveCapacity(lines.count + count) }
}
