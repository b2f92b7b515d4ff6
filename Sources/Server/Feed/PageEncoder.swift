package import FreshetWire

/// Joins encoded changes into a page, up to a number and a size.
package struct PageEncoder: Sendable {
    private static let opening = Array(#"{"changes":["#.utf8)
    private static let cursor = Array(#"],"cursor":""#.utf8)
    fileprivate static let upToDate = Array(#"","upToDate":true}"#.utf8)
    fileprivate static let more = Array(#"","upToDate":false}"#.utf8)

    private var body: [UInt8] = Self.opening
    private let limit: Int
    private let pageBytes: Int
    /// The number of changes in the page.
    package private(set) var count = 0

    package init(limit: Int, pageBytes: Int) {
        self.limit = limit
        self.pageBytes = pageBytes
    }

    /// Whether another change has to wait for the next page. A page has at least one change, whatever its size.
    package var isFull: Bool { count > 0 && (count >= limit || body.count >= pageBytes) }

    /// Whether a full page continues to the end of an atomic batch. One with a limit of 1 does not, so that a client
    /// which can take no more than one change at a time makes progress.
    package var keepsBatches: Bool { limit > 1 }

    /// Appends one encoded change.
    package mutating func append(_ json: [UInt8]) {
        if count > 0 { body.append(UInt8(ascii: ",")) }
        body.append(contentsOf: json)
        count += 1
    }

    /// Ends the page at `position`.
    package consuming func page(at position: Cursor, upToDate: Bool) -> FeedPage {
        body.append(contentsOf: Self.cursor)
        body.append(contentsOf: position.description.utf8)
        body.append(contentsOf: upToDate ? Self.upToDate : Self.more)
        return FeedPage(body: body, cursor: position, upToDate: upToDate)
    }
}

extension FeedPage {
    /// The page, marked as having more after it.
    var unfinished: FeedPage {
        guard upToDate else { return self }
        return FeedPage(body: body.dropLast(PageEncoder.upToDate.count) + PageEncoder.more, cursor: cursor, upToDate: false)
    }
}
