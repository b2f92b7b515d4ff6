import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("The groups of a feed's readers") struct GroupTableTests {
    /// Another one at each call, so that no two share arrays.
    private static func subscription(to collections: [String]) throws -> Subscription {
        var subscription = Subscription(filter: try ChangeFilter(collections: collections))
        let ranges = RangeSet(collections.map { KeyRange.collection($0, prefix: "") })
        subscription.part = ReadablePart(ranges: ranges, digest: try #require(RightsDigest(ranges.digest)))
        return subscription
    }

    private static func places(of subscription: Subscription) throws -> [UnsafeRawPointer] {
        let ranges = try #require(subscription.part?.ranges.ranges)
        return [
            try #require(subscription.filter.collections.withUnsafeBytes { $0.baseAddress }),
            try #require(ranges.withUnsafeBytes { $0.baseAddress }),
        ]
    }

    @Test("readers that want the same share the arrays of one subscription, and no others do")
    func sharesArrays() throws {
        // Given
        var groups = GroupTable()
        let first = try Self.subscription(to: ["a", "b"])
        _ = groups.group(for: first, target: nil, noMatchAfter: .zero)
        let second = try Self.subscription(to: ["a", "b"])
        let other = try Self.subscription(to: ["a"])
        #expect(try Self.places(of: second) != Self.places(of: first))
        // When
        let (shared, alone) = (groups.shared(second), groups.shared(other))
        // Then
        #expect(shared == second)
        #expect(try Self.places(of: shared) == Self.places(of: first))
        #expect(alone == other)
        #expect(try groups.latest.map { try Self.places(of: $0.subscription) } == Self.places(of: first))
        #expect(try Self.places(of: alone) == Self.places(of: other))
    }

    @Test("groups without waiters stay while they are few and small")
    func emptyGroupsAreFew() throws {
        // Given many groups, and one with many collections
        var groups = GroupTable()
        let numbers = try (0..<600).map {
            groups.group(for: Subscription(filter: try ChangeFilter(collections: ["c\($0)"])), target: nil, noMatchAfter: .zero)
        }
        let large = Subscription(filter: try ChangeFilter(collections: (0..<9).map { "d\($0)" }))
        let last = groups.group(for: large, target: nil, noMatchAfter: .zero)
        // When each loses its waiters, one after the other, and one gets others
        groups.keepEmpty(last, since: 0)
        for (time, number) in numbers.enumerated() {
            groups.keepEmpty(number, since: Int64(time))
            if time == 0 { groups.use(number) }
        }
        // Then the large one has ended, and of the others the oldest
        #expect(groups.find(large) == nil)
        #expect(groups.emptyCount <= GroupTable.mostEmpty && groups.emptyCount > GroupTable.mostEmpty / 2)
        #expect(groups.numbers.count == groups.emptyCount + 1 && groups.numbers.first == numbers[0])
        #expect(groups.numbers.last == numbers.last)
        // When their time has passed
        groups.dropEmpty(now: 20_000)
        // Then only the one with waiters is there
        #expect(groups.numbers == [numbers[0]] && groups.emptyCount == 0)
    }
}
