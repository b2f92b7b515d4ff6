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
}
