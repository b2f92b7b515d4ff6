import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

struct RightsTests {
    private let shop: Namespace
    private let rights: Rights

    init() throws {
        shop = try Namespace("shop")
        rights = try Rights(
            json: Array(
                """
                [{"ns":"shop","in":["articles"],"may":["read"]},
                 {"ns":"shop","in":["carts/u7/*"],"may":["read","write","invalidate"]},
                 {"ns":"tenant-*","in":["*"],"may":["read","write","create","drop","inspect"]}]
                """.utf8))
    }

    @Test func aRecordWithinARangeIsAllowedByItsGrant() throws {
        #expect(rights.decide(.read, in: shop, of: .key(try RecordKey("articles/1"))) == .allowed(grant: 0))
        #expect(rights.decide(.write, in: shop, of: .key(try RecordKey("carts/u7/1"))) == .allowed(grant: 1))
        #expect(rights.decide(.drop, in: try Namespace("tenant-3"), of: .everything) == .allowed(grant: 2))
    }

    @Test(
        "The reach of rights matches the namespaces in which anything is allowed, and none twice",
        arguments: [
            (["shop", "shop*", "shop-1", "a", "shop-*", "a"], ["a", "shop*"]),
            (["b", "*", "a*"], ["*"]),
            (["shop.x", "shop", "shop-1*"], ["shop", "shop-1*", "shop.x"]),
            ([], []),
        ])
    func reach(_ patterns: [String], _ expected: [String]) throws {
        let rights = Rights(
            try patterns.compactMap { Grant(namespaces: try NamespacePattern($0), ranges: .everything, verbs: Verbs(.read)) })
        #expect(rights.reach.map(\.description) == expected)
    }

    @Test func theMissingRightIsNamed() throws {
        // When
        let decision = rights.decide(.write, in: shop, of: .key(try RecordKey("articles/1")))
        // Then
        guard case .needs(let missing) = decision else {
            Issue.record("\(decision)")
            return
        }
        var writer = JSONWriter()
        missing.write(to: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"may":"write","of":"shop:articles/1"}"#)
    }

    @Test(
        "a range beyond the grant is not allowed",
        arguments: [
            KeyRange.everything, .collection("carts", prefix: ""), .collection("carts", prefix: "u7"), .collection("carts", prefix: "u70/"),
        ])
    func rangesBeyond(range: KeyRange) {
        #expect(rights.decide(.invalidate, in: shop, of: range) == .needs(MissingRight(may: .invalidate, namespace: shop, range: range)))
    }

    @Test func aSweepWithinARangeIsAllowed() {
        #expect(rights.decide(.invalidate, in: shop, of: .collection("carts", prefix: "u7/")) == .allowed(grant: 1))
        #expect(rights.decide(.invalidate, in: shop, of: .collection("carts", prefix: "u7/old-")) == .allowed(grant: 1))
    }

    @Test("an operation on a namespace ignores the range that a caller names", arguments: [Verb.create, .drop, .inspect])
    func operationsOnNamespaces(verb: Verb) throws {
        #expect(
            rights.decide(verb, in: shop, of: .key(try RecordKey("carts/u7/1")))
                == .needs(MissingRight(may: verb, namespace: shop, range: .everything)))
        #expect(rights.decide(verb, in: try Namespace("tenant-3"), of: .key(try RecordKey("carts/u7/1"))) == .allowed(grant: 2))
    }

    @Test func aNamespaceOutOfReachIsToldFromOneWithAPartInReach() throws {
        #expect(rights.reaches(shop, with: .write))
        #expect(!rights.reaches(shop, with: .drop))
        #expect(!rights.reaches(try Namespace("other"), with: .write))
        #expect(!Rights.none.reaches(shop, with: .read))
    }

    @Test func aFeedIsTheRequestedPartOfTheReadableRanges() throws {
        let prefix = KeyRange.collection("carts", prefix: "u7/")
        #expect(rights.decideFeed(in: shop, .all) == .part(RangeSet([.collection("articles", prefix: ""), prefix])))
        #expect(rights.decideFeed(in: shop, try ChangeFilter(collections: ["carts"])) == .part(RangeSet([prefix])))
        #expect(
            rights.decideFeed(in: shop, try ChangeFilter(collections: ["articles", "users"]))
                == .needs(MissingRight(may: .read, namespace: shop, range: .collection("users", prefix: ""))))
        #expect(rights.decideFeed(in: try Namespace("tenant-3"), .all) == .everything(.all))
        #expect(
            rights.decideFeed(in: try Namespace("other"), .all)
                == .needs(MissingRight(may: .read, namespace: try Namespace("other"), range: .everything)))
    }

    @Test func theOperatorMayDoEverything() {
        for verb in Verb.allCases { #expect(Rights.all.decide(verb, in: shop, of: .everything) == .allowed(grant: 0)) }
    }

    @Test("a decision is that of the grants one by one", arguments: 0..<200 as Range<UInt64>)
    func decidesAsGrants(seed: UInt64) throws {
        // Given
        var random = SeededGenerator(seed: seed)
        let names = ["shop", "shop2", "other"]
        let texts = ["*", "a", "a/x*", "a/xy*", "a/x", "b/y*", "b"]
        let raw: [(pattern: String, ranges: [String], verbs: [Verb])] = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            (
                ["shop", "shop*", "*", "other"][Int.random(in: 0..<4, using: &random)],
                (0...Int.random(in: 0...2, using: &random)).map { _ in texts[Int.random(in: 0..<texts.count, using: &random)] },
                [Verb.read, .write, .invalidate].filter { _ in Bool.random(using: &random) }
            )
        }
        let rights = Rights(
            try raw.compactMap {
                Grant(
                    namespaces: try NamespacePattern($0.pattern), ranges: RangeSet(try $0.ranges.map(KeyRange.init(range:))),
                    verbs: Verbs($0.verbs))
            })
        // When
        for verb in [Verb.read, .write, .invalidate] {
            for name in names {
                for text in texts + ["a/xyz", "a/xyz*", "b/z", "c"] {
                    let range = try KeyRange(range: text)
                    // Then
                    let expected = raw.firstIndex { grant in
                        let matches = grant.pattern == "*" || grant.pattern == name || (grant.pattern == "shop*" && name != "other")
                        return matches && grant.verbs.contains(verb)
                            && grant.ranges.contains { own in
                                if own == "*" { return true }
                                let text = text.contains("/") ? text : text == "*" ? text : "\(text)/*"
                                let own = own.contains("/") ? own : "\(own)/*"
                                return own.hasSuffix("*") ? text.hasPrefix(own.dropLast()) : text == own
                            }
                    }
                    let decision = rights.decide(verb, in: try Namespace(name), of: range)
                    switch decision {
                    case .allowed(let grant): #expect(grant == expected)
                    case .needs: #expect(expected == nil, "\(verb) \(name) \(text) by \(raw)")
                    }
                }
            }
        }
    }
}
