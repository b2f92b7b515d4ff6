/// The names of the members in the objects in which a reader stands, to refuse a name that comes twice.
///
/// The first ``scanned`` names of an object are compared one by one, as ranges of the input, which costs no allocation for each object. An
/// object with more, or with an escaped name, has a set: an insertion is O(1) on average, whatever names the input chooses.
struct MemberNames: Sendable {
    private static let scanned = 16

    private struct Object: Sendable {
        /// Where its names begin in ``ranges``.
        let start: Int
        /// All its names, once there is a set.
        var texts: Set<ByteIdentity.Name>?
    }

    /// The innermost is the last.
    private var objects: [Object] = []
    /// Between the quotes. Those of an object with a set are no longer added.
    private var ranges: [Range<Int>] = []

    mutating func open() { objects.append(Object(start: ranges.count, texts: nil)) }

    mutating func close() {
        guard let object = objects.popLast() else { return }
        ranges.removeSubrange(object.start...)
    }

    /// Adds a name to the innermost object, and says whether it is new there.
    /// - Parameter escaped: the name with its escapes resolved, if it has some.
    mutating func insert(_ range: Range<Int>, _ escaped: String?, in bytes: [UInt8]) -> Bool {
        guard let last = objects.indices.last else { return true }
        let start = objects[last].start
        if escaped == nil, objects[last].texts == nil, ranges.count - start < Self.scanned {
            guard !ranges[start...].contains(where: { Self.areEqual($0, range, in: bytes) }) else { return false }
            ranges.append(range)
            return true
        }
        // Taken out while it is changed, so that it is not copied.
        var texts = objects[last].texts.take() ?? Set(ranges[start...].map { Self.name($0, in: bytes) })
        let isNew = texts.insert(escaped.map(ByteIdentity.Name.init) ?? Self.name(range, in: bytes)).inserted
        objects[last].texts = texts
        return isNew
    }

    private static func areEqual(_ left: Range<Int>, _ right: Range<Int>, in bytes: [UInt8]) -> Bool {
        left.count == right.count
            && bytes.withUnsafeBytes { $0[left].elementsEqual($0[right]) }
    }

    private static func name(_ range: Range<Int>, in bytes: [UInt8]) -> ByteIdentity.Name {
        ByteIdentity.Name(text: bytes.withUnsafeBytes { String(decoding: $0[range], as: UTF8.self) })
    }
}
