internal import FreshetPlatform

/// The names of the members of the open objects, to refuse a name that comes twice.
///
/// The first ``scanned`` names of an object are compared one by one, as places in the input. An object with more, or
/// with an escaped name, has a set: an insertion is O(1) on average for any names that the input chooses.
struct MemberNames: Sendable {
    private static let scanned = 16

    private var entries = NameStack()
    /// The sets of the objects that have one, the innermost last.
    private var sets: [Set<ByteIdentity.Name>] = []
    private(set) var openObjects = 0

    mutating func open() {
        entries.append(NameStack.Entry(objectWithSet: nil))
        openObjects += 1
    }

    mutating func close() {
        guard openObjects > 0 else { return }
        openObjects -= 1
        var index = entries.count - 1
        while index > 0, entries[index].name != nil { index -= 1 }
        if entries[index].set != nil { sets.removeLast() }
        entries.removeAll(from: index)
    }

    /// Adds a name to the innermost object, and returns whether it is new there.
    /// - Parameter escaped: the name with its escapes resolved, if it has some.
    mutating func insert(_ range: Range<Int>, _ escaped: String?, in bytes: [UInt8]) -> Bool {
        var object = entries.count - 1
        while object >= 0, let other = entries[object].name {
            if escaped == nil, Self.areEqual(other, range, in: bytes) { return false }
            object -= 1
        }
        guard object >= 0 else { return true }
        let set = entries[object].set
        if set == nil, escaped == nil, entries.count - object <= Self.scanned, let name = NameStack.Entry(name: range) {
            entries.append(name)
            return true
        }
        let place = set ?? makeSet(of: object, in: bytes)
        return sets[place].insert(escaped.map(ByteIdentity.Name.init) ?? Self.name(range, in: bytes)).inserted
    }

    /// Puts the names of the innermost object into a set.
    private mutating func makeSet(of object: Int, in bytes: [UInt8]) -> Int {
        var names: Set<ByteIdentity.Name> = []
        for index in (object + 1)..<entries.count {
            if let range = entries[index].name { names.insert(Self.name(range, in: bytes)) }
        }
        entries.removeAll(from: object + 1)
        entries[object] = NameStack.Entry(objectWithSet: sets.count)
        sets.append(names)
        return sets.count - 1
    }

    private static func areEqual(_ left: Range<Int>, _ right: Range<Int>, in bytes: [UInt8]) -> Bool {
        left.count == right.count && bytes.withUnsafeBytes { $0[left].elementsEqual($0[right]) }
    }

    private static func name(_ range: Range<Int>, in bytes: [UInt8]) -> ByteIdentity.Name {
        ByteIdentity.Name(text: bytes.withUnsafeBytes { String(decoding: $0[range], as: UTF8.self) })
    }
}
