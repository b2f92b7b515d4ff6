import FreshetWire
import Testing

@testable import FreshetTrust

struct RightsClassesTests {
    private var classes = RightsClasses(bytes: 8 * 200)
    private let shop: Namespace

    init() throws { shop = try Namespace("shop") }

    private static func rights(_ ranges: String..., verb: Verb = .read, namespace: String = "shop") throws -> Rights {
        Rights(
            [
                Grant(
                    namespaces: try NamespacePattern(namespace), ranges: RangeSet(try ranges.map(KeyRange.init(range:))), verbs: Verbs(verb)
                )
            ]
            .compactMap { $0 })
    }

    @Test mutating func equalRightsHaveOneClass() throws {
        // Given the same records by other ranges and grants
        let first = classes.readClass(of: try Self.rights("a", "b/x*"), in: shop)
        let second = classes.readClass(of: try Self.rights("b/x*", "b/xy*", "a", "a/1"), in: shop)
        let split = Rights(try Self.rights("a").grants + Self.rights("b/x*", namespace: "*").grants + Self.rights("c", verb: .write).grants)
        let third = classes.readClass(of: split, in: shop)
        // Then
        #expect(first != nil && first == second && first == third && first?.digest?.utf8.count == 8)
        let other = classes.readClass(of: try Self.rights("a"), in: shop)
        #expect(other?.id != first?.id)
    }

    @Test mutating func everythingIsTheFirstClassAndNothingHasNone() throws {
        let everything = classes.readClass(of: .all, in: shop)
        #expect(everything?.id == 0 && everything?.digest == nil)
        let none = classes.readClass(of: try Self.rights("a", verb: .write), in: shop)
        let elsewhere = classes.readClass(of: try Self.rights("a", namespace: "other"), in: shop)
        #expect(none == nil && elsewhere == nil)
    }

    @Test mutating func aNumberIsNeverUsedForOtherRights() throws {
        // Given a table for about 12 classes
        var sets: [UInt64: RangeSet] = [:]
        for number in (0..<200).flatMap({ [$0, $0 / 2] }) {
            // When
            let found = try #require(classes.readClass(of: try Self.rights("c\(number)"), in: shop))
            // Then
            #expect(sets[found.id] == nil || sets[found.id] == found.ranges)
            sets[found.id] = found.ranges
            #expect(classes.count <= 12)
        }
    }
}
