internal import FreshetPlatform
package import FreshetWire

/// Numbers for the sets of records that sessions may read: sessions with equal rights in a namespace share a class, and
/// so the encoded pages and the batches of polls.
///
/// Bounded. A class that was not used for long is forgotten, and has another number later. A number is never used for
/// another set, so that no reader ever receives the page of another class.
package struct RightsClasses: Sendable {
    /// The records that sessions of a class may read in a namespace.
    package struct ReadClass: Hashable, Sendable {
        /// 0 for everything.
        package let id: UInt64
        package let ranges: RangeSet
        /// The fourth part of cursors; `nil` for everything, whose cursors have none.
        package let digest: String?
    }

    private static let everything = ReadClass(id: 0, ranges: .everything, digest: nil)

    private var classes: GenerationTable<RangeSet, ReadClass>
    private var last: UInt64 = 0

    /// - Parameter bytes: about the memory of the classes.
    package init(bytes: Int = 8 << 20) { classes = GenerationTable(limit: bytes / 2) }

    package var count: Int { classes.count }

    /// The class of rights in a namespace; `nil` if they read nothing there. O(n log n) for n ranges: a connection
    /// should remember it.
    package mutating func readClass(of rights: Rights, in namespace: Namespace) -> ReadClass? {
        let ranges = rights.ranges(of: .read, in: namespace)
        guard !ranges.isEmpty else { return nil }
        guard !ranges.isEverything else { return Self.everything }
        if let known = classes.value(for: ranges) { return known }
        last += 1
        let made = ReadClass(id: last, ranges: ranges, digest: ranges.digest)
        classes.set(made, for: ranges, weight: ranges.weight)
        return made
    }
}
