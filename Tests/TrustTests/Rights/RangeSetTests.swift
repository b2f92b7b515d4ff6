import FreshetPlatform
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

/// Compares the set with a list of ranges that are tried one by one, over all keys of a small universe.
struct RangeSetTests {
    private static let collections = ["a", "a.b", "b"]
    private static let ids: [String] = {
        let letters = ["x", "y", "/", "\u{E9}", "e\u{301}"]
        var ids = letters
        for first in letters { for second in letters { ids += [first + second] + letters.map { first + second + $0 } } }
        return ids
    }()
    private static let keys: [RecordKey] = collections.flatMap { collection in
        ids.compactMap { try? RecordKey(collection: collection, id: $0) }
    }

    private static func range(_ random: inout SeededGenerator) -> KeyRange {
        let id = ids[Int.random(in: 0..<ids.count, using: &random)]
        let collection = collections[Int.random(in: 0..<collections.count, using: &random)]
        switch Int.random(in: 0..<24, using: &random) {
        case 0: return .everything
        case 1...3: return .collection(collection, prefix: "")
        case 4...13: return .collection(collection, prefix: id)
        default: return (try? RecordKey(collection: collection, id: id)).map(KeyRange.key) ?? .everything
        }
    }

    private static func ranges(_ random: inout SeededGenerator) -> [KeyRange] {
        (0..<Int.random(in: 0...9, using: &random)).map { _ in range(&random) }
    }

    @Test("a set has the records of the ranges that it was made of, and no range covers another", arguments: 0..<300 as Range<UInt64>)
    func hasItsRecords(seed: UInt64) {
        // Given
        var random = SeededGenerator(seed: seed)
        let ranges = Self.ranges(&random)
        // When
        let set = RangeSet(ranges)
        // Then
        for key in Self.keys {
            #expect(set.contains(key) == ranges.contains { $0.covers(.key(key)) }, "\(key) in \(ranges.map(\.rangeText))")
        }
        for _ in 0..<20 {
            let other = Self.range(&random)
            #expect(set.covers(other) == ranges.contains { $0.covers(other) }, "\(other.rangeText) in \(ranges.map(\.rangeText))")
        }
        for (place, range) in set.ranges.enumerated() {
            #expect(set.ranges.indices.allSatisfy { $0 == place || !set.ranges[$0].covers(range) })
        }
        #expect(RangeSet(ranges.shuffled(using: &random)) == set)
        #expect(RangeSet(ranges.shuffled(using: &random)).digest == set.digest)
    }

    @Test("intersection and union have the records of both and of either", arguments: 0..<200 as Range<UInt64>)
    func combines(seed: UInt64) {
        // Given
        var random = SeededGenerator(seed: seed + 1_000)
        let (left, right) = (RangeSet(Self.ranges(&random)), RangeSet(Self.ranges(&random)))
        // When
        let (both, either) = (left.intersection(right), left.union(right))
        // Then
        for key in Self.keys {
            #expect(both.contains(key) == (left.contains(key) && right.contains(key)))
            #expect(either.contains(key) == (left.contains(key) || right.contains(key)))
        }
        #expect(both == right.intersection(left) && either == right.union(left))
        #expect((left.digest == right.digest) == (left == right))
    }

    @Test(
        "a reader of a filtered feed receives the changes that match the filter and that it may read", arguments: 0..<300 as Range<UInt64>)
    func filters(seed: UInt64) throws {
        // Given
        var random = SeededGenerator(seed: seed + 2_000)
        let readable = RangeSet(Self.ranges(&random))
        let chosen = Self.collections.filter { _ in Bool.random(using: &random) }
        let filter = try ChangeFilter(
            collections: chosen, prefix: Bool.random(using: &random) ? "" : Self.ids[Int.random(in: 0..<Self.ids.count, using: &random)])
        let expected = Set(Self.keys.filter { filter.matches($0) && readable.contains($0) })
        // When
        switch readable.readable(filter) {
        // Then
        case .filter(let same):
            #expect(readable.isEverything && same == filter)
        case .ranges(let ranges):
            #expect(!ranges.isEmpty)
            #expect(Set(Self.keys.filter(ranges.contains)) == expected)
        case .unreadable(.collection(let collection, let prefix)):
            #expect(filter.collections.contains(collection) && ByteIdentity.areEqual(prefix, filter.prefix))
            #expect(!expected.contains { $0.collection == collection })
        case .unreadable:
            #expect(filter.collections.isEmpty && expected.isEmpty)
        }
    }

    @Test func aDigestHasEightCharactersOfTheCursorsAlphabet() {
        let digests = [RangeSet.none, .everything, RangeSet([.collection("a", prefix: "x")]), RangeSet([.collection("ax", prefix: "")])]
            .map(\.digest)
        #expect(Set(digests).count == 4)
        #expect(digests.allSatisfy { $0.utf8.count == 8 && Epoch($0) != nil })
    }

    @Test func aDigestDependsOnTheRangesOnly() {
        // A cursor outlives the process: the digest may never change for the same ranges.
        #expect(RangeSet.everything.digest == RangeSet([.key(.init(known: "a/x")), .everything]).digest)
        #expect(RangeSet([.key(.init(known: "a/x"))]).digest != RangeSet([.collection("a", prefix: "x")]).digest)
    }
}

extension RecordKey {
    /// A key of a test.
    init(known text: String) {
        do { self = try RecordKey(text) } catch { fatalError(error.description) }
    }
}
