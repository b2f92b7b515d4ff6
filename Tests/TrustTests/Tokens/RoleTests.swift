import FreshetWire
import Testing

@testable import FreshetTrust

struct RoleTests {
    private static let text =
        #"[{"ns":"shop","in":["articles"],"may":["read"]},{"ns":"t-{claim:tenant}","in":["carts/{sub}/*"],"may":["read","write"]}]"#

    private func rights(_ changes: [String: String?], roles: String = text) throws -> Rights {
        var all: [String: String?] = ["freshet_role": #""till""#]
        all.merge(changes) { $1 }
        return try TokenFixture(roles: roles).verify(claims: TokenFixture.claims(all)).rights
    }

    @Test func claimsFillInThePlaceholders() throws {
        #expect(
            try rights(["tenant": #""acme""#]).json
                == Array(
                    #"[{"ns":"shop","in":["articles"],"may":["read"]},{"ns":"t-acme","in":["carts/u7/*"],"may":["read","write"]}]"#.utf8))
    }

    @Test(
        "a value that is no part of a name is refused",
        arguments: ["u7/*", "*", "a/b", "/", "", "a\\u0000", "a\\n", String(repeating: "x", count: 129)])
    func invalidValues(value: String) {
        #expect(throws: TokenRefusal.self) { try rights(["tenant": "\"\(value)\""]) }
        #expect(throws: TokenRefusal.self) { try rights(["tenant": #""acme""#, "sub": "\"\(value)\""]) }
    }

    @Test func aValueIsNotFilledInTwice() throws {
        let rights = try rights(["tenant": #""acme""#, "sub": #""{claim:tenant}""#])
        #expect(rights.grants[1].ranges.ranges.map(\.rangeText) == ["carts/{claim:tenant}/*"])
    }

    @Test func aClaimThatIsMissingOrNoTextIsRefused() {
        #expect(throws: TokenRefusal.missingClaim("tenant")) { try rights([:]) }
        #expect(throws: TokenRefusal.missingClaim("tenant")) { try rights(["tenant": "7"]) }
        #expect(throws: TokenRefusal.self) { try rights(["tenant": #""ACME""#]) }
    }

    @Test(
        "a template that would mix up users, or that makes no grant, is refused at its byte",
        arguments: [
            #"[{"ns":"shop","in":["carts/{sub}*"],"may":["read"]}]"#, #"[{"ns":"shop","in":["carts/{sub}-*"],"may":["read"]}]"#,
            #"[{"ns":"{sub}*","in":["carts"],"may":["read"]}]"#, #"[{"ns":"shop","in":["carts/{sub}{claim:a}/x"],"may":["read"]}]"#,
            #"[{"ns":"{sub}-{claim:a}","in":["carts"],"may":["read"]}]"#, #"[{"ns":"shop","in":["carts/{user}"],"may":["read"]}]"#,
            #"[{"ns":"shop","in":["carts/{sub"],"may":["read"]}]"#, #"[{"ns":"shop","in":["carts/{claim:}"],"may":["read"]}]"#,
            #"[{"ns":"shop","in":["carts/{claim:jti}"],"may":["read"]}]"#,
            #"[{"ns":"shop","in":["ca rts/{sub}"],"may":["read"]}]"#, #"[{"ns":"shop","in":["carts/{sub}"],"may":["drop"]}]"#,
        ])
    func invalidTemplates(text: String) {
        var reader = StrictReader(Array(text.utf8))
        let error = #expect(throws: TrustError.self) { try Role(&reader) }
        #expect(error?.offset == 1)
    }

    @Test func placeholdersBetweenSlashesAreAccepted() throws {
        let text = #"[{"ns":"shop","in":["carts/{claim:tenant}/{sub}/*","{claim:tenant}/a-{sub}"],"may":["read"]}]"#
        #expect(
            try rights(["tenant": #""acme""#], roles: text).grants[0].ranges.ranges.map(\.rangeText) == ["acme/a-u7", "carts/acme/u7/*"])
    }
}
