/// The answer to a ``WriteBatch``: one outcome a write, in order.
public struct WriteResults: WireMessage {
    /// The outcomes.
    public var results: [WriteOutcome]
    /// The position after the batch.
    public var cursor: Cursor

    /// An answer.
    public init(results: [WriteOutcome], cursor: Cursor) {
        self.results = results
        self.cursor = cursor
    }

    /// `{"results":[…],"cursor":…}`
    public func write(to writer: inout JSONWriter) {
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
    public init(_ reader: inout JSONReader) throws(WireError) {
        var results: [WriteOutcome]?
        var cursor: Cursor?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "results": results = try reader.elements { reader throws(WireError) in try WriteOutcome(&reader) }
            case "cursor": cursor = try reader.cursor()
            default: try reader.skip()
            }
        }
        guard let results, let cursor else { throw .unexpectedJSON("an answer to writes takes 'results' and 'cursor'") }
        self.init(results: results, cursor: cursor)
    }
}
