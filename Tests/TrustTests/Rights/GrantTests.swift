import FreshetWire
import Testing

@testable import FreshetTrust

struct GrantTests {
    private static func read(_ text: String) throws -> Rights { try Rights(json: Array(text.utf8)) }

    @Test func grantsAreReadAndWritten() throws {
        // Given
        let text =
            #"[{"ns":"shop","in":["articles","carts/u7/*"],"may":["read","write"]},{"ns":"tenant-*","in":["*"],"may":["create","drop"]}]"#
        // When
        let rights = try Self.read(text)
        // Then
        #expect(rights.grants.map(\.namespaces.description) == ["shop", "tenant-*"])
        #expect(String(decoding: rights.json, as: UTF8.self) == text)
    }

    @Test(
        "a grant that breaks a rule is refused at its byte",
        arguments: [
            (#"{"#, 0), (#"[{"ns":"shop","in":["a"],"may":["read"],"client":"x"}]"#, 40),
            (#"[{"ns":"shop","in":["a"],"may":["read"],"ns":"b"}]"#, 40),
            (#"[{"ns":"shop","in":["a"],"may":["reed"]}]"#, 32),
            (#"[{"ns":"shop","in":["a"]}]"#, 1), (#"[{"ns":"shop","may":["read"]}]"#, 1), (#"[{"in":["a"],"may":["read"]}]"#, 1),
            (#"[{"ns":"shop","in":[],"may":["read"]}]"#, 1), (#"[{"ns":"shop","in":["a"],"may":[]}]"#, 1),
            (#"[{"ns":"Shop","in":["a"],"may":["read"]}]"#, 1), (#"[{"ns":"*x","in":["a"],"may":["read"]}]"#, 1),
            (#"[{"ns":"shop","in":["a b"],"may":["read"]}]"#, 1), (#"[{"ns":"shop","in":[7],"may":["read"]}]"#, 20),
            (#"[{"ns":"shop","in":["a"],"may":["drop"]}]"#, 1), (#"[{"ns":"shop","in":[""],"may":["read"]}]"#, 20),
            (#"[] []"#, 3),
        ])
    func refuses(text: String, offset: Int) {
        let error = #expect(throws: TrustError.self) { try Self.read(text) }
        #expect(error?.offset == offset, "\(error?.description ?? "none")")
    }

    @Test func thereAreAtMost32Grants() throws {
        let grant = #"{"ns":"shop","in":["a"],"may":["read"]}"#
        let most = Array(repeating: grant, count: 32).joined(separator: ",")
        #expect(try Self.read("[\(most)]").grants.count == 32)
        #expect(throws: TrustError.self) { try Self.read("[\(most),\(grant)]") }
    }

    @Test func thereAreAtMost64RangesInAllGrants() throws {
        func grant(_ count: Int) -> String {
            #"{"ns":"shop","in":[\#((0..<count).map { #""c\#($0)""# }.joined(separator: ","))],"may":["read"]}"#
        }
        #expect(try Self.read("[\(grant(40)),\(grant(24))]").grants.count == 2)
        #expect(throws: TrustError.self) { try Self.read("[\(grant(40)),\(grant(25))]") }
        #expect(throws: TrustError.self) { try Self.read("[\(grant(65))]") }
    }

    @Test func deepNestingIsRefused() {
        let text = #"[{"ns":"# + String(repeating: "[", count: 100_000)
        #expect(throws: TrustError.self) { try Self.read(text) }
        #expect(throws: TrustError.self) { try Self.read(String(repeating: "[", count: 100_000)) }
    }

    @Test func anErrorStatesTheRemedy() throws {
        let error = try #require(throws: TrustError.self) { try Self.read(#"[{"ns":"shop","in":["a"],"may":["drop"]}]"#) }
        #expect(error.description == #"at byte 1: 'drop' concerns the whole namespace: give it a separate grant with "in": ["*"]"#)
    }
}
