/// The answer to a single `PUT`, `PATCH` or `DELETE`.
package struct WriteReceipt: WireMessage {
    /// The record that was written.
    package var key: RecordKey
    /// The revision that the write took; `nil` for a numbered delete of a record that was not there.
    package var revision: Revision?
    /// The position after the write.
    package var cursor: Cursor

    /// A receipt.
    package init(key: RecordKey, revision: Revision?, cursor: Cursor) {
        self.key = key
        self.revision = revision
        self.cursor = cursor
    }

    /// `{"key":…,"revision":…,"cursor":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("key", key)
        if let revision { writer.member("revision", revision.number) }
        writer.member("cursor")
        writer.cursor(cursor)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var key: RecordKey?
        var revision: Revision?
        var cursor: Cursor?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "key": key = try reader.key()
            case "revision": revision = try reader.revision()
            case "cursor": cursor = try reader.cursor()
            default: try reader.skip()
            }
        }
        guard let key, let cursor else { throw .unexpectedJSON("a receipt takes 'key', 'revision' and 'cursor'") }
        self.init(key: key, revision: revision, cursor: cursor)
    }
}
