/// One answer of the feed. The position comes from ``cursor``, never from the changes.
public struct ChangePage: WireMessage {
    /// The changes in revision order.
    public var changes: [Change]
    /// The position to ask on from.
    public var cursor: Cursor
    /// Whether nothing was left when the answer was made.
    public var upToDate: Bool

    /// A page.
    public init(changes: [Change], cursor: Cursor, upToDate: Bool) {
        self.changes = changes
        self.cursor = cursor
        self.upToDate = upToDate
    }

    /// `{"changes":[…],"cursor":…,"upToDate":…}`
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("changes")
        writer.beginArray()
        for change in changes { change.write(to: &writer) }
        writer.endArray()
        writer.member("cursor", cursor.description)
        writer.member("upToDate", upToDate)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    public init(_ reader: inout JSONReader) throws(WireError) {
        var changes: [Change]?
        var cursor: Cursor?
        var upToDate: Bool?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "changes": changes = try reader.elements { reader throws(WireError) in try Change(&reader) }
            case "cursor": cursor = try reader.cursor()
            case "upToDate": upToDate = try reader.boolean()
            default: try reader.skip()
            }
        }
        guard let changes, let cursor, let upToDate else { throw .unexpectedJSON("changes take 'changes', 'cursor' and 'upToDate'") }
        self.init(changes: changes, cursor: cursor, upToDate: upToDate)
    }
}
