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
    /// Adds a line whose value `write` appends in place, without a temporary string.
    public mutating func append(_ start: FieldLineStart, _ write: (inout [UInt8]) -> Void) {
        lines.append(contentsOf: start.bytes)
        let valueStart = lines.count
        write(&lines)
        for index in valueStart..<lines.count where !lines[index].isFieldContent { lines[index] = .space }
        lines.append(.carriageReturn)
        lines.append(.lineFeed)
    }

    /// Reserves capacity for `count` more bytes of lines.
    public mutating func reserve(_ count: Int) { lines.reserveCapacity(lines.count + count) }
}
