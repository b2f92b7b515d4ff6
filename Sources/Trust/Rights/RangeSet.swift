package import FreshetWire

/// A set of records, as sorted ranges none of which covers another. Two sets of the same records are equal, also if
/// they were made of different ranges.
///
/// Ranges only overlap where one covers the other. The range that covers a record or range can therefore only be the
/// last one that is not behind it.
package struct RangeSet: Hashable, Sendable {
    /// The ranges; ``KeyRange/everything`` stands alone.
    package let ranges: [KeyRange]

    package static let none = RangeSet([])
    package static let everything = RangeSet([.everything])

    /// O(n log n).
    package init(_ ranges: some Sequence<KeyRange>) {
        var kept: [KeyRange] = []
        for range in ranges.sorted(by: KeyRange.precedes) where kept.last?.covers(range) != true { kept.append(range) }
        self.ranges = kept
    }

    package var isEmpty: Bool { ranges.isEmpty }
    package var isEverything: Bool { ranges.first == .everything }

    /// Whether every record of `range` lies in one range of the set. O(log n).
    package func covers(_ range: KeyRange) -> Bool {
        guard !isEverything else { return true }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if KeyRange.precedes(range, ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low > 0 && ranges[low - 1].covers(range)
    }

    /// Whether the set has the record. O(log n).
    package func contains(_ key: RecordKey) -> Bool { covers(.key(key)) }

    /// The records of the set that lie in `range`. O(n).
    package func intersection(_ range: KeyRange) -> RangeSet {
        covers(range) ? RangeSet([range]) : RangeSet(ranges.filter(range.covers))
    }

    /// The records that lie in both. O(n · m).
    package func intersection(_ other: RangeSet) -> RangeSet { RangeSet(other.ranges.flatMap { intersection($0).ranges }) }

    /// The records that lie in either. O((n + m) log (n + m)).
    package func union(_ other: RangeSet) -> RangeSet { RangeSet(ranges + other.ranges) }

    /// The bytes that the set takes in memory, about. O(n).
    package var weight: Int { ranges.reduce(64) { $0 + $1.place.collection.utf8.count + $1.place.text.count + 64 } }

    /// Eight characters of `a-z2-7` that differ for different sets with all likelihood: 40 bits of the SHA-256 of the
    /// ranges. For a cursor, which states under which rights it was issued. Rights are compared by ``==(_:_:)``.
    package var digest: String {
        var bytes: [UInt8] = []
        for range in ranges {
            // No name contains NUL, so that different sets have different bytes.
            bytes.append(contentsOf: range.place.collection.utf8)
            bytes.append(contentsOf: range.place.isKey ? [0, 1] : [0, 0])
            bytes.append(contentsOf: range.place.text)
            bytes.append(0)
        }
        return Base32.text(SHA256Digest(of: bytes).bytes.prefix(5))
    }
}

/// The part of a feed that a reader receives.
package enum ReadableFeed: Hashable, Sendable {
    /// The reader may read everything: the request's own filter.
    case filter(ChangeFilter)
    /// The requested ranges that the reader may read; at least one.
    case ranges(RangeSet)
    /// The reader may read nothing of this range, which the request names.
    case unreadable(KeyRange)
}

extension RangeSet {
    /// The part of a requested feed that lies in this set of readable records. O(c · n) for c collections.
    ///
    /// A collection of the request that has no readable record is an error and not an empty part: the reader would wait
    /// for changes that never come.
    package func readable(_ filter: ChangeFilter) -> ReadableFeed {
        guard !isEverything else { return .filter(filter) }
        guard !filter.collections.isEmpty else {
            let readable = RangeSet(
                ranges.flatMap { range in intersection(.collection(range.place.collection, prefix: filter.prefix)).ranges })
            return readable.isEmpty ? .unreadable(.everything) : .ranges(readable)
        }
        var found: [KeyRange] = []
        for collection in filter.collections {
            let range = KeyRange.collection(collection, prefix: filter.prefix)
            let readable = intersection(range)
            guard !readable.isEmpty else { return .unreadable(range) }
            found.append(contentsOf: readable.ranges)
        }
        return .ranges(RangeSet(found))
    }
}
