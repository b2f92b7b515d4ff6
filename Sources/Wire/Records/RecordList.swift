/// One page of `GET /v1/{ns}/records/{collection}`, ordered by id.
package struct RecordList: WireMessage {
    /// The most records of a page.
    package static let maximumCount = 1_000

    /// The records of this page.
    package var records: [Record]
    /// The id for `after` in the request for the next page; `nil` on the last page.
    package var next: String?
    /// The position of the state that the page reflects.
    package var cursor: Cursor

    /// A page.
    package init(records: [Record], next: String?, cursor: Cursor) {
        self.records = records
        self.next = next
        self.cursor = cursor
    }

    /// `{"records":[…],"next":id|null,"cursor":…}`
    package func write(to writer: inout JSONWriter) {
        writer.reserve(records.expectedLength)
        writer.beginObject()
        writer.member("records")
        writer.beginArray()
        for record in records { record.write(to: &writer) }
        writer.endArray()
        writer.member("next")
        if let next { writer.string(next) } else { writer.null() }
        writer.member("cursor", cursor.description)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    /// - Throws: ``WireError/tooMany(_:limit:)`` at the first record beyond ``maximumCount``.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var records: [Record] = []
        var next: String?
        var cursor: Cursor?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "records":
                records = try reader.elements(atMost: Self.maximumCount, "records") { reader throws(WireError) in
                    try Record.element(&reader)
                }
            // An id obeys the rules for a prefix.
            case "next": next = try reader.takeNull() ? nil : try RecordKey.check(prefix: try reader.string())
            case "cursor": cursor = try reader.cursor()
            default: try reader.skip()
            }
        }
        guard let cursor else { throw .unexpectedJSON("a list takes 'records', 'next' and 'cursor'") }
        self.init(records: records, next: next, cursor: cursor)
    }
}
