/// The open objects of a JSON text, each with the places of its members' names behind it; the innermost object is the last.
///
/// The first ``inlineCount`` entries need no allocation, which saves 2 for each `PUT` (`scripts/check-counts`: 28
/// instead of 30). A plain array is enough if that no longer counts.
struct NameStack: Sendable {
    /// An entry in 8 bytes: the compiler copies all of the inline entries to read one.
    struct Entry: Sendable {
        private static let object = UInt32.max

        private let start: UInt32
        private let number: UInt32

        /// An object begins; `set` is the place of its set of names, if it has one.
        init(objectWithSet set: Int?) {
            start = Self.object
            number = set.map { UInt32($0 + 1) } ?? 0
        }

        /// A name between its quotes; `nil` behind the first 4 GiB of a text.
        init?(name: Range<Int>) {
            guard name.upperBound < Int(Self.object) else { return nil }
            start = UInt32(name.lowerBound)
            number = UInt32(name.count)
        }

        /// The place of the name; `nil` for an object.
        var name: Range<Int>? { start == Self.object ? nil : Int(start)..<Int(start) + Int(number) }

        /// The place of the object's set of names, if it is an object and has one.
        var set: Int? { start == Self.object && number > 0 ? Int(number) - 1 : nil }
    }

    private static let inlineCount = 16

    private var first = InlineArray<16, Entry>(repeating: Entry(objectWithSet: nil))
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
