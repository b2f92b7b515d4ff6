/// One answer of the feed. The position comes from ``cursor``, never from the changes.
package struct ChangePage: WireMessage {
    /// The changes in revision order.
    package var changes: [Change]
    /// The position from which to continue.
    package var cursor: Cursor
    /// Whether nothing remained when the answer was made.
    package var upToDate: Bool

    /// The most changes that a server puts on a page.
    ///
    /// A page has at most 1,000 changes, as many as `limit` may say, and goes on to the end of an atomic batch, whose writes are
    /// at most 1,000. A reader of a part of the namespace receives an invalidation as its parts within the ranges that it may
    /// read, of which there are at most 64 (`docs/limits.md`). The changes of a batch have one record each.
    package static let maximumCount = 1_000 * 64 + WriteBatch.maximumCount

    /// A page.
    package init(changes: [Change], cursor: Cursor, upToDate: Bool) {
        self.changes = changes
        self.cursor = cursor
        self.upToDate = upToDate
    }

    /// `{"changes":[…],"cursor":…,"upToDate":…}`
    package func write(to writer: inout JSONWriter) {
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
    /// - Throws: ``WireError/tooMany(_:limit:)`` at the first change beyond ``maximumCount``.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var changes: [Change]?
        var cursor: Cursor?
        var upToDate: Bool?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "changes":
                var read: [Change] = []
                var count = 0
                try reader.beginArray()
                while try reader.nextElement() {
                    // Counted while they are read: each may be much larger in memory than on the wire.
                    guard count < Self.maximumCount else { throw .tooMany("changes", limit: Self.maximumCount) }
                    count += 1
                    let start = reader.position
                    try Self.readChange(&reader, into: &read)
                    if read.count == 1 { read.reserveCapacity(reader.estimatedCount(ofElementsWith: reader.position - start)) }
                }
                changes = read
            case "cursor": cursor = try reader.cursor()
            case "upToDate": upToDate = try reader.boolean()
            default: try reader.skip()
            }
        }
        guard let changes, let cursor, let upToDate else { throw .unexpectedJSON("changes take 'changes', 'cursor' and 'upToDate'") }
        self.init(changes: changes, cursor: cursor, upToDate: upToDate)
    }

    /// Returns why the page cannot be the answer to a request for the changes after `since`; `nil` if it can be.
    package func fault(after since: Since) -> String? {
        if case .after(let position) = since {
            guard cursor.revision >= position.revision else {
                return "the page's cursor \(cursor) is before the one asked from, \(position)"
            }
            guard upToDate || cursor.revision > position.revision else {
                return "the page does not move on from \(position) although more is to come"
            }
        } else if !upToDate, cursor.revision == .zero || changes.isEmpty {
            return "the first page is empty although more is to come"
        }
        if let change = changes.first(where: { $0.revision > cursor.revision }) {
            return "the change at \(change.revision) is past the page's cursor \(cursor)"
        }
        return nil
    }

    /// Reads the next change. A change that is JSON, but that this reader does not understand, does not stop the page:
    /// the records that it reaches are to be evicted and read singly. A change under a key that breaks the rules for
    /// keys is left out, since no client holds a record of such a key.
    private static func readChange(_ reader: inout JSONReader, into changes: inout [Change]) throws(WireError) {
        let start = reader.mark
        // Made in the array: a change is as large as several strings, and a page has a thousand.
        do { changes.append(try Change(&reader)) } catch {
            reader.rewind(to: start)
            if let change = try unreadable(&reader, error) { changes.append(change) }
        }
    }

    private static func unreadable(_ reader: inout JSONReader, _ error: WireError) throws(WireError) -> Change? {
        var revision: Revision?
        var key: [UInt8]?
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "revision": revision = try reader.revision()
            case "key": key = try reader.rawValue()
            default: try reader.skip()
            }
        }
        // Without a revision, the change has no place in the order.
        guard let revision else { throw error }
        guard let key else { return Change(revision: revision, effect: .invalidate(.everything)) }
        var text = JSONReader(key)
        guard let key = try? text.key() else { return nil }
        return Change(revision: revision, effect: .invalidate(.key(key)))
    }
}
