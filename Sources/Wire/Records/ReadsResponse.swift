/// The answer to a ``ReadsRequest``. A key that is neither in ``records`` nor in ``missing`` is as the asker has it.
public struct ReadsResponse: WireMessage {
    /// The records that differ from what the asker has.
    public var records: [Record]
    /// The keys that have no record.
    public var missing: [RecordKey]
    /// The position of the state that the answer reflects.
    public var cursor: Cursor

    /// An answer.
    public init(records: [Record], missing: [RecordKey], cursor: Cursor) {
        self.records = records
        self.missing = missing
        self.cursor = cursor
    }

    /// `{"records":[…],"missing":["key",…],"cursor":…}`
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("records")
        writer.beginArray()
        for record in records { record.write(to: &writer) }
        writer.endArray()
        writer.member("missing")
        writer.beginArray()
        for key in missing { writer.string(key.description) }
        writer.endArray()
        writer.member("cursor", cursor.description)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    public init(_ reader: inout JSONReader) throws(WireError) {
        var records: [Record] = []
        var missing: [RecordKey] = []
        var cursor: Cursor?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "records": records = try reader.elements { reader throws(WireError) in try Record(&reader) }
            case "missing": missing = try reader.elements { reader throws(WireError) in try reader.key() }
            case "cursor": cursor = try reader.cursor()
            default: try reader.skip()
            }
        }
        guard let cursor else { throw .unexpectedJSON("an answer to reads takes 'records', 'missing' and 'cursor'") }
        self.init(records: records, missing: missing, cursor: cursor)
    }
}
