internal import FreshetPlatform

/// The position from which a reader of the feed begins.
package enum Since: Hashable, Sendable, CustomStringConvertible {
    /// `0`: from nothing, so without deletes and invalidations; never expires.
    case start
    /// `now`: the present position, answered at once.
    case now
    /// After this position.
    case after(Cursor)

    /// - Throws: ``WireError/invalidCursor(_:)``.
    package init(_ text: String) throws(WireError) {
        if ByteIdentity.areEqual(text, "0") {
            self = .start
        } else if ByteIdentity.areEqual(text, "now") {
            self = .now
        } else {
            self = .after(try Cursor(text))
        }
    }

    /// Reads bytes in place; the same as ``init(_:)`` of their text.
    package init(ascii bytes: Span<UInt8>) throws(WireError) {
        let cursor = bytes.withUnsafeBufferPointer { Cursor(utf8: $0[...]) }
        guard let cursor else {
            try self.init(bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
            return
        }
        self = .after(cursor)
    }

    /// The text as it stands in a query.
    package var description: String {
        switch self {
        case .start: "0"
        case .now: "now"
        case .after(let cursor): cursor.description
        }
    }
}
