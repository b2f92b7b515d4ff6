/// The position from which a reader of the feed begins.
public enum Since: Hashable, Sendable, CustomStringConvertible {
    /// `0`: from nothing, so without deletes and invalidations; never expires.
    case start
    /// `now`: the present position, answered at once.
    case now
    /// After this position.
    case after(Cursor)

    /// - Throws: ``WireError/invalidCursor(_:)``.
    public init(_ text: String) throws(WireError) {
        switch text {
        case "0": self = .start
        case "now": self = .now
        default: self = .after(try Cursor(text))
        }
    }

    /// The text as it stands in a query.
    public var description: String {
        switch self {
        case .start: "0"
        case .now: "now"
        case .after(let cursor): cursor.description
        }
    }
}
