package import FreshetTrust
package import FreshetWire

/// The part of a namespace's feed that a reader receives who may not read everything.
package struct ReadablePart: Hashable, Sendable {
    /// The requested records that the reader may read.
    package let ranges: RangeSet
    /// Stands for all records that the reader may read in the namespace; its cursors state it.
    package let digest: RightsDigest

    package init(ranges: RangeSet, digest: RightsDigest) {
        self.ranges = ranges
        self.digest = digest
    }

    /// Whether the scope reaches any record of the part. O(ranges).
    func matches(_ scope: InvalidationScope) -> Bool {
        if case .key(let key) = scope { return ranges.contains(key) }
        return ranges.covers(scope) || ranges.ranges.contains { scope.covers($0) }
    }

    /// How many names ``matches(_:)`` compares beyond those of a part with few ranges, about. The rights of one user are such a part:
    /// a change of what all users read is compared with each.
    func matchCost(of scope: InvalidationScope) -> Int {
        guard case .key = scope else { return max(0, ranges.ranges.count - 3) }
        return max(0, 2 * (Int.bitWidth - ranges.ranges.count.leadingZeroBitCount) - 4)
    }

    /// A filter that matches every record of the part, and perhaps others.
    var cover: ChangeFilter {
        let collections = Set(ranges.ranges.map(\.place.collection))
        let first = ranges.ranges.first.map { String(decoding: Array($0.place.text), as: UTF8.self) } ?? ""
        let prefix = ranges.ranges.reduce(first) { $0.commonPrefix(with: $1.place.text) }
        return (try? ChangeFilter(collections: collections.sorted(), prefix: prefix)) ?? .all
    }
}

extension String {
    /// The scalars that the text and these bytes begin with. By bytes; a scalar is never cut.
    fileprivate func commonPrefix(with other: String.UTF8View) -> String {
        var (end, rest) = (unicodeScalars.startIndex, other[...])
        while end < unicodeScalars.endIndex {
            let bytes = String(unicodeScalars[end]).utf8
            guard rest.starts(with: bytes) else { break }
            rest = rest.dropFirst(bytes.count)
            end = unicodeScalars.index(after: end)
        }
        return String(unicodeScalars[..<end])
    }
}

extension Cursor {
    /// The position as a reader of a part gets it; unchanged for a reader of everything.
    package func issued(to part: ReadablePart?) -> Cursor { with(rights: part?.digest) }
}

extension Change {
    /// The change as a reader of the part may see it: an invalidation names no range outside of the part. All have this
    /// change's revision.
    package func restricted(to part: ReadablePart) -> [Change] {
        guard case .invalidate(let scope) = effect, !part.ranges.covers(scope) else { return [self] }
        return part.ranges.intersection(scope).ranges.map { range in
            Change(revision: revision, effect: .invalidate(range), modified: modified, author: author)
        }
    }
}
