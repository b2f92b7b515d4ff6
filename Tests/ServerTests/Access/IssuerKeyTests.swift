import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Logging
import Synchronization
import Testing

@testable import FreshetServer

/// A server that fetches the keys of its issuer.
@Suite("Keys of an issuer that are fetched") struct IssuerKeyTests {
    private static func with(_ issuer: ScriptedIssuer, _ body: (TokenServer) async throws -> Void) async throws {
        try await TokenServer.with(TokenServer.configuration(.url("https://id.example.org/jwks"), by: issuer.fetch), body)
    }

    @Test("Keys are fetched when a token needs them, and again when it names another")
    func rotation() async throws {
        let issuer = ScriptedIssuer(.keys([.es256], ids: ["k1"]))
        try await Self.with(issuer) { (server: TokenServer) async throws in
            // Given a server that has fetched the first key
            #expect(issuer.count == 0)
            #expect(try await server.status(.es256, id: "k1") == 404)
            // When the issuer has another one, and a token comes before the next fetch may begin
            issuer.set(.keys([.es256, .edDSA], ids: ["k1", "k2"]))
            #expect(try await server.status(.edDSA, id: "k2") == 401)
            #expect(issuer.count == 1)
            // Then it is accepted once a fetch may begin, and the former key still is
            server.clock.advance(KeySetCache.cooldown)
            #expect(try await server.status(.edDSA, id: "k2") == 404)
            #expect(try await server.status(.es256, ["sub": #""u8""#], id: "k1", of: "carts/u8/1") == 404)
            #expect(issuer.count == 2)
        }
    }

    @Test("A key that was replaced under its kid is fetched after a signature that does not match")
    func replacedKey() async throws {
        let (first, second) = (TokenSigner(.es256), TokenSigner(.es256))
        let issuer = ScriptedIssuer(.keys([first], ids: ["k1"]))
        try await Self.with(issuer) { (server: TokenServer) async throws in
            #expect(try await server.status(first, id: "k1") == 404)
            issuer.set(.keys([second], ids: ["k1"]))
            // When tokens of the other key arrive within ten seconds of the last fetch, and after
            #expect(try await server.status(second, id: "k1") == 401)
            #expect(issuer.count == 1)
            server.clock.advance(KeySetCache.cooldown)
            #expect(try await server.status(second, id: "k1") == 401)
            // Then the next one is accepted, once the refusal of the same bytes is forgotten
            #expect(issuer.count == 2)
            #expect(try await server.status(second, ["sub": #""u8""#], id: "k1", of: "carts/u8/1") == 404)
        }
    }

    @Test("After a reload a key that the issuer has withdrawn is refused, and the former keys stay if it cannot be reached")
    func withdrawnKey() async throws {
        let issuer = ScriptedIssuer(.keys([.es256, .edDSA], ids: ["k1", "k2"]))
        let configuration = try TokenServer.configuration(.url("https://id.example.org/jwks"), by: issuer.fetch)
        try await TokenServer.with(configuration) { (server: TokenServer) async throws in
            // Given tokens that are in use
            let (first, second) = (server.field(.es256, id: "k1"), server.field(.edDSA, id: "k2"))
            #expect(try await [server.status(first), server.status(second)] == [404, 404])
            // When the issuer cannot be reached
            issuer.set(.failure)
            try server.server.test.server.reload(configuration)
            // Then
            #expect(issuer.count == 2)
            #expect(try await [server.status(first), server.status(second)] == [404, 404])
            // When it has withdrawn a key
            issuer.set(.keys([.edDSA], ids: ["k2"]))
            try server.server.test.server.reload(configuration)
            // Then
            #expect(try await [server.status(first), server.status(second)] == [401, 404])
            #expect(issuer.count == 3)
        }
    }

    @Test("An issuer that cannot be reached is the server's fault until its keys are known, and none after")
    func down() async throws {
        let issuer = ScriptedIssuer(.failure)
        try await Self.with(issuer) { (server: TokenServer) async throws in
            let reply = try await server.server.request("GET", "/v1/shop/rights", server.field(.es256, id: "k1"))
            #expect(reply.status == 503 && reply["Retry-After"] != nil && reply["WWW-Authenticate"] == nil)
            // When it is back
            issuer.set(.keys([.es256], ids: ["k1"]))
            server.clock.advance(KeySetCache.cooldown)
            #expect(try await server.status(.es256, id: "k1") == 404)
            // Then its keys are used while it is down again, for a day after their age
            issuer.set(.failure)
            server.clock.advance(86_400_000)
            #expect(try await server.status(.es256, id: "k1") == 404)
            server.clock.advance(86_400_000)
            #expect(try await server.status(.es256, id: "k1") == 503)
        }
    }

    @Test("A request waits two seconds for a slow issuer")
    func slow() async throws {
        let issuer = ScriptedIssuer(.nothing)
        try await Self.with(issuer) { (server: TokenServer) async throws in
            let field = server.field(.es256, id: "k1")
            async let waiting = server.server.request("GET", "/v1/shop/rights", field)
            while issuer.count == 0 { await Task.yield() }
            // Others are answered meanwhile
            let key = try server.server.key(TokenServer.everything).field
            #expect(try await server.status(key) == 404)
            server.clock.advance(KeySetCache.wait)
            #expect(try await waiting.status == 503)
            issuer.release()
        }
    }

    @Test(
        "A document that is no set of usable keys changes nothing",
        arguments: [
            "", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0","kid":"k1"}]}"#,
            #"{"keys":7}"#,
        ])
    func wrongDocument(text: String) async throws {
        let issuer = ScriptedIssuer(.keys([.es256], ids: ["k1"]))
        try await Self.with(issuer) { (server: TokenServer) async throws in
            #expect(try await server.status(.es256, id: "k1") == 404)
            issuer.set(.document(Array(text.utf8)))
            server.clock.advance(KeySetCache.cooldown)
            #expect(try await server.status(.hs256, id: "k1") == 401)
            #expect(try await server.status(.es256, ["sub": #""u8""#], id: "k1", of: "carts/u8/1") == 404)
            #expect(issuer.count == 2)
        }
    }

    @Test("Keys that are not used are logged once, and again when the issuer publishes others")
    func unusedKeys() {
        // Given an issuer with a key that can be used and one that cannot
        let document = { (unused: String) in
            let usable = TokenSigner.es256.jwk(#","kid":"k1""#)
            return ScriptedIssuer.Answer.document(Array(#"{"keys":[\#(usable),{"kty":"EC","crv":"P-999","kid":"\#(unused)"}]}"#.utf8))
        }
        let issuer = ScriptedIssuer(document("k2"))
        let (log, clock) = (Log(), TestClock())
        let keys = IssuerKeys(
            .url("https://id.example.org/jwks"), of: TokenServer.issuer, by: issuer.fetch, now: { clock.wall },
            Logger(label: "test") { StreamLogHandler(label: $0, stream: log) })
        // When its keys are fetched three times, and then three times with another one that cannot be used
        keys.need(.es256, "k1") { _ in }
        for _ in 0..<2 { keys.refresh() }
        issuer.set(document("k3"))
        for _ in 0..<3 { keys.refresh() }
        // Then
        #expect(issuer.count == 6)
        #expect(log.lines.count == 2 && log.lines[0].contains("'k2'") && log.lines[1].contains("'k3'"), "\(log.lines)")
    }

    /// Keeps the lines of a log.
    private final class Log: TextOutputStream, Sendable {
        private let written = Mutex<[String]>([])

        var lines: [String] { written.withLock { $0 } }

        func write(_ line: String) { written.withLock { $0.append(line) } }
    }

    @Test("10,000 tokens with unknown keys cause one fetch in ten seconds")
    func storm() async throws {
        let issuer = ScriptedIssuer(.keys([.es256], ids: ["k1"]))
        try await Self.with(issuer) { (server: TokenServer) async throws in
            // Given the bytes of as many requests, in groups that a connection may pipeline
            let parts = String(decoding: TokenSigner.es256.token(claims: server.claims(), id: "k1"), as: UTF8.self).split(separator: ".")
            let token = { @Sendable (number: Int) in
                let header = Base64URL.encode(#"{"alg":"ES256","kid":"unknown-\#(number)"}"#.utf8)
                return "\(String(decoding: header, as: UTF8.self)).\(parts[1]).\(parts[2])"
            }
            // When
            let statuses = try await server.server.test.thread { connection in
                var statuses: [Int: Int] = [:]
                for group in 0..<1_000 {
                    let requests = (0..<10).map { place in
                        "GET /v1/shop/rights HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token(group * 10 + place))\r\n\r\n"
                    }
                    try connection.send(Array(requests.joined().utf8))
                    for _ in requests { statuses[try connection.readReply().status, default: 0] += 1 }
                }
                return statuses
            }
            // Then
            #expect(statuses == [401: 10_000])
            #expect(issuer.count == 1)
            // And a token with a known key is accepted
            #expect(try await server.status(.es256, id: "k1") == 404)
        }
    }
}
