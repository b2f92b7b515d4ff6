import FreshetWire
import Testing

@testable import freshet

/// Keys and revocations as lines.
struct KeyLinesTests {
    private let lines = KeyLines(isTerminal: true, now: 2_000_000_000_000)

    @Test func aKeyHasItsStateItsDaysAndItsGrants() throws {
        // Given keys of each state, and a name that would control a terminal
        let json = """
            {"keys":[
            {"id":"a","name":"operator","allow":[],"admin":true,"created":0,"expires":null,"disabled":false,"lastUsed":1795737600000},
            {"id":"bb","name":"till\\u001b[2J","allow":[{"ns":"shop","in":["articles","carts/u7/*"],"may":["read","write"]}],"admin":false,
             "created":0,"expires":2000000000001,"disabled":false,"lastUsed":null,"later":{}},
            {"id":"c","name":"old","allow":[],"admin":true,"created":0,"expires":2000000000000,"disabled":false,"lastUsed":null},
            {"id":"d","name":"off","allow":[],"admin":true,"created":0,"expires":1,"disabled":true,"lastUsed":null}
            ],"more":1}
            """
        // When
        let shown = try lines.keys(Array(json.utf8))
        // Then
        #expect(
            shown == [
                "ID  STATE     USED        EXPIRES     NAME           MAY",
                "a   admin     2026-11-27  never       operator       -",
                #"bb  active    never       2033-05-18  till\u{1b}[2J  shop:articles:read,write shop:carts/u7/*:read,write"#,
                "c   expired   never       2033-05-18  old            -",
                "d   disabled  never       1970-01-01  off            -",
            ])
    }

    @Test func aRevocationNamesItsTokens() throws {
        // Given
        let json = """
            {"revocations":[
            {"issuer":"https://id","subject":"u7","issuedBefore":1795737600000,"created":1795737600001,"margin":30},
            {"issuer":"https://id","issuedBefore":1795737600000,"created":1795737600000},
            {"jti":"t1","issuedBefore":0,"created":1795737600000}
            ],"count":3}
            """
        // When
        let shown = try lines.revocations(Array(json.utf8))
        // Then
        #expect(
            shown == [
                "MADE                      REVOKED",
                "2026-11-27T00:00:00.001Z  issuer https://id subject u7, issued before 2026-11-27T00:00:00.000Z, waits end after 30 s",
                "2026-11-27T00:00:00.000Z  issuer https://id, issued before 2026-11-27T00:00:00.000Z",
                "2026-11-27T00:00:00.000Z  jti t1",
            ])
    }

    @Test(arguments: ["", "[]", #"{"keys":{}}"#, #"{"keys":[{"id":1}]}"#]) func anotherAnswerIsAnError(json: String) {
        #expect(throws: WireError.self) { try lines.keys(Array(json.utf8)) }
    }
}
