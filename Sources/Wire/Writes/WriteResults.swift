/// The answer to a ``WriteBatch``: one outcome a write, in order.
package struct WriteResults: WireMessage {
    /// The outcomes.
    package var results: [WriteOutcome]
    /// The position after the batch.
    package var cursor: Cursor

    /// An answer.
    package init(results: [WriteOutcome], cursor: Cursor) {
        self.results = results
        self.cursor = cursor
    }

    /// `{"results":[…],"cursor":…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("results")
        writer.beginArray()
        for result in results { result.write(to: &writer) }
        writer.endArray()
        writer.member("cursor")
        writer.cursor(cursor)
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    /// - Throws: ``WireError/tooMany(_:limit:)`` if there are more outcomes than a batch may have writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var results: [WriteOutcome]?
        var cursor: Cursor?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "results":
                results = try reader.elements(atMost: WriteBatch.maximumCount, "results") { reader throws(WireError) in
                    try WriteOutcome(&reader)
                }
            case "cursor": cursor = try reader.cursor()
            default: try reader.skip()
            }
        }
        guard let results, let cursor else { throw .unexpectedJSON("an answer to writes takes 'results' and 'cursor'") }
        self.init(results: results, cursor: cursor)
    }
}
