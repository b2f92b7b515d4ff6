import FreshetWire

/// One page of a list whose records stay the bytes that the server sent: checked, but not decoded.
struct EncodedPage: Sendable {
    private let body: [UInt8]
    /// Where each record object stands in the body.
    private let ranges: [Range<Int>]
    /// The id after which the next page begins; `nil` on the last page.
    let next: String?
    /// The position of the state that the page reflects.
    let cursor: Cursor

    var count: Int { ranges.count }

    /// Reads what a server answers to `GET /v1/{ns}/records/{collection}`. O(n) in its length.
    /// - Throws: ``WireError`` where it is anything else, or a record lacks its key or its value.
    init(json: [UInt8]) throws(WireError) {
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(RecordPages.pageSize)
        var next: String?
        var cursor: Cursor?
        var reader = JSONReader(json)
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "records":
                try reader.beginArray()
                while try reader.nextElement() {
                    guard ranges.count < RecordPages.pageSize else { throw .tooMany("records", limit: RecordPages.pageSize) }
                    ranges.append(try Self.record(&reader))
                }
            case "next": next = try reader.takeNull() ? nil : try RecordKey.check(prefix: try reader.string())
            case "cursor": cursor = try Cursor(try reader.string())
            default: try reader.skip()
            }
        }
        try reader.end()
        guard let cursor else { throw .unexpectedJSON("a list takes 'records', 'next' and 'cursor'") }
        (body, self.ranges, self.next, self.cursor) = (json, ranges, next, cursor)
    }

    /// Skips one record object and returns its range.
    private static func record(_ reader: inout JSONReader) throws(WireError) -> Range<Int> {
        let start = reader.position
        var (hasKey, hasValue) = (false, false)
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "key": hasKey = true
            case "value", "body": hasValue = true
            default: break
            }
            try reader.skip()
        }
        guard hasKey, hasValue else { throw .unexpectedJSON("a record in a list takes 'key', and 'value' or 'body'") }
        return start..<reader.position
    }

    /// The records, a line each. Line breaks, which JSON has between tokens only, become spaces.
    func lines() -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(body.count)
        for range in ranges {
            let start = lines.count
            lines += body[range]
            for index in start..<lines.count where lines[index] == UInt8(ascii: "\n") || lines[index] == UInt8(ascii: "\r") {
                lines[index] = UInt8(ascii: " ")
            }
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }
}
