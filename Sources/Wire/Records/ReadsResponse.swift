/// The answer to a ``ReadsRequest``: to all of its keys, or to those before ``next``. A record whose key is among
/// these, and in none of ``records``, ``missing`` and ``forbidden``, is as the client has it.
package struct ReadsResponse: WireMessage {
    /// The records that differ from the client's.
    package var records: [Record]
    /// The keys that have no record.
    package var missing: [RecordKey]
    /// The keys that the request's principal may not read, whether or not they have a record.
    package var forbidden: [RecordKey]
    /// The place in the request, counted from 0, of the first key that is not answered: ask again for the keys from
    /// there on. `nil` if all are answered.
    package var next: Int?
    /// The position of the state that the answer reflects.
    package var cursor: Cursor

    /// An answer.
    package init(records: [Record], missing: [RecordKey], forbidden: [RecordKey] = [], next: Int? = nil, cursor: Cursor) {
        self.records = records
        self.missing = missing
        self.forbidden = forbidden
        self.next = next
        self.cursor = cursor
    }

    /// `{"records":[…],"missing":["key",…],"next":…,"cursor":…}`, and `"forbidden":["key",…]` if there are any.
    package func write(to writer: inout JSONWriter) {
        writer.reserve(records.expectedLength)
        writer.beginObject()
        writer.member("records")
        writer.beginArray()
        for record in records { record.write(to: &writer) }
        writer.endArray()
        writer.member("missing")
        writer.beginArray()
        for key in missing { writer.string(key.description) }
        writer.endArray()
        if !forbidden.isEmpty {
            writer.member("forbidden")
            writer.beginArray()
            for key in forbidden { writer.string(key.description) }
            writer.endArray()
        }
        writer.member("next")
        if let next { writer.integer(Int64(next)) } else { writer.null() }
        writer.member("cursor", cursor.description)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes. Each key of the request is in one of the arrays at most.
    /// - Throws: ``WireError/tooMany(_:limit:)`` if one of them has more elements than a request may have keys.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var records: [Record] = []
        var missing: [RecordKey] = []
        var forbidden: [RecordKey] = []
        var next: Int?
        var cursor: Cursor?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "records":
                records = try reader.elements(atMost: ReadsRequest.maximumCount, "records") { reader throws(WireError) in
                    try Record.element(&reader)
                }
            case "missing": missing = try Self.keys(&reader, "missing keys")
            case "forbidden": forbidden = try Self.keys(&reader, "forbidden keys")
            case "next": next = try reader.takeNull() ? nil : Int(try reader.integer())
            case "cursor": cursor = try reader.cursor()
            default: try reader.skip()
            }
        }
        guard let cursor else { throw .unexpectedJSON("an answer to reads takes 'records', 'missing' and 'cursor'") }
        self.init(records: records, missing: missing, forbidden: forbidden, next: next, cursor: cursor)
    }

    private static func keys(_ reader: inout JSONReader, _ what: String) throws(WireError) -> [RecordKey] {
        try reader.elements(atMost: ReadsRequest.maximumCount, what) { reader throws(WireError) in try reader.key() }
    }
}
