/// The open objects of a JSON text, each with the places of its members' names behind it; the innermost object is the last.
///
/// The first ``inlineCount`` entries need no allocation, which saves 2 for each `PUT` (`scripts/check-counts`: 28
/// instead of 30). A plain array is enough if that no longer counts.
struct NameStack: Sendable {
    enum Entry: Sendable {
        /// An object begins; `set` is the place of its set of names, if it has one.
        case object(set: Int?)
        /// A name between its quotes.
        case name(Range<Int>)
    }

    private static let inlineCount = 16

    private var first = InlineArray<16, Entry>(repeating: .object(set: nil))
    private var rest: [Entry] = []
    private(set) var count = 0

    subscript(index: Int) -> Entry {
        get { index < Self.inlineCount ? first[index] : rest[index - Self.inlineCount] }
        set {
            if index < Self.inlineCount { first[index] = newValue } else { rest[index - Self.inlineCount] = newValue }
        }
    }

    mutating func append(_ entry: Entry) {
        if count < Self.inlineCount { first[count] = entry } else { rest.append(entry) }
        count += 1
    }

    /// Removes all entries from `end` on.
    mutating func removeAll(from end: Int) {
        rest.removeLast(max(0, count - max(end, Self.inlineCount)))
        count = end
    }
}
