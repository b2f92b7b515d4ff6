import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Tokens over HTTP", .overBothStores) struct TokenTests {
    private static let keys = try? KeySet(TokenSigner.all.map { try $0.verificationKey(id: $0.algorithm.rawValue) })

    private static func fixed() throws -> RecordServerConfiguration { try TokenServer.configuration(.fixed(try #require(keys))) }

    @Test("A token of each algorithm has the rights of its role, with its subject", arguments: TokenSigner.all)
    func accepted(signer: TokenSigner) async throws {
        try await TokenServer.with(Self.fixed()) { (server: TokenServer) async throws in
            // Given a namespace
            let operate = try server.server.key(TokenServer.everything).field
            #expect(try await server.status(operate, "PUT", "articles/1") == 201)
            // When
            let token = server.field(signer, id: signer.algorithm.rawValue)
            // Then
            #expect(try await server.status(token, "PUT") == 201)
            #expect(try await server.status(token) == 200)
            #expect(try await server.status(token, "GET", "articles/1") == 200)
            #expect(try await server.status(token, "PUT", "articles/1") == 403)
            #expect(try await server.status(token, "GET", "carts/u70/1") == 403)
            let rights = try await server.server.request("GET", "/v1/shop/rights", token).text
            #expect(rights.hasPrefix(#"{"principal":"https://id.example.org|u7","expires":"2027-01-15T08:10:00"#), "\(rights)")
            #expect(rights.contains(#""read":["articles","carts/u7/*"],"write":["carts/u7/*"]"#))
            // And it is no administrator
            #expect(try await server.server.request("GET", "/metrics", token).status == 403)
        }
    }

    @Test("A token that is not valid is refused, with its reason if its signature is right")
    func refused() async throws {
        try await TokenServer.with(Self.fixed()) { (server: TokenServer) async throws in
            let now = server.clock.wall / 1_000
            let signer = TokenSigner.es256
            let reported: [([String: String?], String)] = [
                (["exp": "\(now)"], "The token expired at"), (["aud": #""other""#], "The token is for another 'aud'"),
                (["nbf": "\(now + 31)"], "The token is valid from"), (["exp": nil], "The token has no 'exp'"),
                (["sub": nil], "The token has no 'sub'"), (["aud": nil], "The token has no 'aud'"),
                (["exp": "\(now + 90_000)"], "The token is valid for more than"),
                (["freshet_role": #""cook""#], "The configuration has no role 'cook'"),
                (["sub": #""a*""#], "The token's rights are invalid"),
            ]
            for (changes, reason) in reported {
                let reply = try await server.server.request(
                    "GET", "/v1/shop/records/articles/1", server.field(signer, changes, id: "ES256"))
                #expect(reply.status == 401 && reply.problem?.detail.hasPrefix(reason) == true, "\(reply.text)")
                #expect(reply["WWW-Authenticate"] == #"Bearer realm="freshet", error="invalid_token""# && reply.cursor == nil)
            }
            // One text for what the server cannot believe, the same as for a key that it does not know
            let unknown = try await server.server.request("GET", "/v1/shop/rights", ("Authorization", "Bearer fk_unknown")).problem?.detail
            let other = TokenSigner(.es256)
            let claims = server.claims()
            let tokens = [
                other.token(claims: claims, id: "ES256"), signer.token(claims: server.claims(["iss": #""other""#]), id: "ES256"),
                TokenSigner.hs256.token(header: #"{"alg":"ES256","kid":"ES256"}"#, claims: claims),
                TokenSigner.hs256.token(header: #"{"alg":"none"}"#, claims: claims),
                signer.token(claims: claims, id: "none"), Array("a.b".utf8), Array("a.b.c".utf8),
            ]
            for token in tokens {
                let field = ("Authorization", "Bearer " + String(decoding: token, as: UTF8.self))
                let reply = try await server.server.request("GET", "/v1/shop/records/articles/1", field)
                #expect(reply.status == 401 && reply.problem?.detail == unknown && unknown != nil, "\(reply.text)")
            }
        }
    }

    @Test("An algorithm that the issuer may not use is refused, whatever the key")
    func algorithm() async throws {
        let configuration = try TokenServer.configuration(.fixed(try #require(Self.keys)), algorithms: [.es256])
        try await TokenServer.with(configuration) { (server: TokenServer) async throws in
            #expect(try await server.status(.es256, id: "ES256") == 404)
            #expect(try await server.status(.hs256, id: "HS256") == 401)
            #expect(try await server.status(.rs256, id: "RS256") == 401)
        }
    }

    @Test("A token is verified once, for all requests and connections that bring it")
    func once() async throws {
        try await TokenServer.with(Self.fixed()) { (server: TokenServer) async throws in
            let token = server.field(.edDSA, id: "EdDSA")
            for _ in 0..<5 { #expect(try await server.status(token) == 404) }
            let statuses = try await server.server.test.thread { connection in
                try (0..<5).map { _ in try connection.request("GET", "/v1/shop/changes?since=0&wait=0", [token]).status }
            }
            #expect(statuses == Array(repeating: 204, count: 5))
            #expect(server.server.test.server.core?.access?.verified.value == 1)
        }
    }

    @Test("A change of keys leaves tokens verified")
    func keyChange() async throws {
        try await TokenServer.with(Self.fixed()) { (server: TokenServer) async throws in
            let token = server.field(.edDSA, id: "EdDSA")
            #expect(try await server.status(token) == 404)
            _ = try server.server.key(TokenServer.everything)
            #expect(try await server.status(token) == 404)
            #expect(server.server.test.server.core?.access?.verified.value == 1)
        }
    }

    @Test("A poll and a stream end with their token, and the next request is refused")
    func expiry() async throws {
        try await TokenServer.with(Self.fixed()) { (server: TokenServer) async throws in
            // Given a token that has a second left
            let operate = try server.server.key(TokenServer.everything).field
            _ = try await server.status(operate, "PUT", "articles/1")
            let token = server.field(.es256, ["exp": "\(server.clock.wall / 1_000 + 1)"], id: "ES256")
            let cursor = try #require(try await server.server.request("GET", "/v1/shop/records/articles", token).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let poll = server.server.test.thread { connection in
                let waited = try connection.request("GET", target, [token])
                return (waited.status, waited.cursor, try connection.request("GET", target, [token]))
            }
            async let stream = server.server.test.thread { connection in
                try connection.sendRequest("GET", target, [token, ("Accept", "text/event-stream")])
                _ = try connection.read(through: "\r\n\r\n")
                return try connection.readEvent()
            }
            try await server.server.test.waitUntil(waiting: 2, in: "shop", operate)
            // When
            server.clock.advance(1_300)
            // Then
            let (waited, position, next) = try await poll
            #expect(waited == 204 && next.status == 401)
            #expect(position == cursor)
            // And a connection that has not polled before is refused with the same words
            let first = try await server.server.test.thread { try $0.request("GET", target, [token]) }
            #expect(first.body == next.body && first["WWW-Authenticate"] == next["WWW-Authenticate"] && first["WWW-Authenticate"] != nil)
            #expect(try await stream.isEmpty)
        }
    }

    @Test(
        "Of polls that wait together each ends with its own token, whatever the wall clock did meanwhile",
        arguments: [0, 400, -400] as [Int64])
    func expiryInABatch(shift: Int64) async throws {
        try await TokenServer.with(Self.fixed()) { (server: TokenServer) async throws in
            // Given three tokens with equal rights, of which one has a second left, one has two, and one has ten minutes
            let test = server.server.test
            let core = try #require(test.server.core)
            let namespace = try Namespace("shop")
            let operate = try server.server.key(TokenServer.everything).field
            _ = try await server.status(operate, "PUT", "articles/1")
            let seconds = server.clock.wall / 1_000
            let tokens = ([1, 2, 600] as [Int64]).map { server.field(.es256, ["exp": "\(seconds + $0)"], id: "ES256") }
            for token in tokens { #expect(try await server.status(token, "GET", "articles/1") == 200) }
            let cursor = try #require(try await server.server.request("GET", "/v1/shop/records/articles", tokens[2]).cursor)
            // And the wall clock is set, which ends a token earlier and never later
            server.clock.set(wallForwardBy: shift)
            let lead = max(shift, 0)
            // When each polls with the same target
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let first = server.server.pollTwice(target, tokens[0])
            async let second = server.server.pollTwice(target, tokens[1])
            async let third = server.server.pollTwice(target, tokens[2])
            try await test.waitUntil(waiting: 3, in: "shop", operate)
            func waiting(after milliseconds: Int64) -> Int {
                server.clock.advance(milliseconds)
                core.feeds.expire(now: core.now())
                return core.feeds.waiting(in: namespace)
            }
            // Then none ends before its token, and each within the width of a bucket after it
            let width = WaiterTable<FeedReader>.bucketWidth
            #expect(waiting(after: 999 - lead) == 3)
            #expect(waiting(after: 1 + width) == 2)
            #expect(try await first == [204, 401])
            #expect(waiting(after: 999 - width) == 2)
            #expect(waiting(after: 1 + width) == 1)
            #expect(try await second == [204, 401])
            // And a change reaches the one that is left
            #expect(try await server.status(operate, "PUT", "articles/1") == 200)
            #expect(try await third == [200, 200])
        }
    }

    @Test("Another policy ends the waits of tokens, and a token has the rights of its role by it")
    func reload() async throws {
        try await TokenServer.with(Self.fixed()) { (server: TokenServer) async throws in
            // Given
            let operate = try server.server.key(TokenServer.everything).field
            _ = try await server.status(operate, "PUT", "articles/1")
            let token = server.field(.es256, id: "ES256")
            let cursor = try #require(try await server.server.request("GET", "/v1/shop/records/articles", token).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let poll = server.server.test.thread { connection in
                let waited = try connection.request("GET", target, [token]).status
                return [waited, try connection.request("GET", target, [token]).status]
            }
            try await server.server.test.waitUntil(waiting: 1, in: "shop", operate)
            // When
            let roles = #"{"till":[{"ns":"shop","in":["prices"],"may":["read"]}]}"#
            try server.server.test.server.reload(try TokenServer.configuration(.fixed(try #require(Self.keys)), roles: roles))
            // Then
            #expect(try await poll == [204, 410])
            #expect(try await server.status(token, "GET", "articles/1") == 403)
            #expect(try await server.status(operate, "GET", "articles/1") == 200)
            // When the issuer is no longer accepted
            var without = try TokenServer.configuration(.fixed(try #require(Self.keys)))
            (without.verifier, without.keySources) = (TokenVerifier(issuers: [], roles: [:]), [])
            try server.server.test.server.reload(without)
            // Then
            #expect(try await server.status(token, "GET", "articles/1") == 401)
        }
    }
}
