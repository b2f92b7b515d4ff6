import FreshetPlatform
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// The rates of addresses and principals, by a clock that the test sets.
@Suite("Rates over HTTP") struct RateLimitTests {
    /// Runs a server with quotas, on which loopback is no proxy.
    private static func with(
        _ set: @escaping (inout Quotas) -> Void, proxies: Bool = false, _ body: (AccessServer, TestClock) async throws -> Void
    ) async throws {
        let clock = TestClock()
        try await AccessServer.with(
            { configuration in
                if !proxies { configuration.trustedProxies = [] }
                set(&configuration.quotas)
            }, environment: clock.environment
        ) { server in try await body(server, clock) }
    }

    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","create","inspect"]}]"#
    private static let record = "/v1/shop/records/a/1"

    private func wrong(_ number: Int) -> (String, String) { ("Authorization", "Bearer fk_\(number)") }

    private func status(_ server: AccessServer, _ key: (String, String)?) async throws -> Int {
        try await server.request("GET", Self.record, key).status
    }

    @Test("An address that has sent too many wrong credentials is refused, but not its sessions")
    func failures() async throws {
        try await Self.with({ $0.address.failures = Rate(3, per: 60_000) }) { server, clock in
            // Given a session, and a key that was not used yet
            let (known, unused) = (try server.key(Self.all).field, try server.key(Self.all).field)
            #expect(try await status(server, known) == 404)
            // When
            for number in 0..<3 { #expect(try await status(server, wrong(number)) == 401) }
            // Then
            let refused = try await server.request("GET", Self.record, wrong(4))
            #expect(refused.status == 429 && refused.problem?.code == .tooManyRequests && refused.cursor == nil)
            #expect(refused["Retry-After"] == "20" && refused["RateLimit"] == #""failures";r=0;t=20"#)
            #expect(refused["RateLimit-Policy"] == #""failures";q=3;w=60"#)
            #expect(try await status(server, unused) == 429)
            #expect(try await status(server, known) == 404)
            // A new key has the sessions of all keys verified again; they are no strangers.
            let new = try server.key(Self.all).field
            #expect(try await status(server, known) == 404)
            #expect(try await status(server, new) == 429)
            clock.advance(20_000)
            #expect(try await status(server, unused) == 404)
            #expect(server.test.server.core?.access?.limits.refused.value == 3)
        }
    }

    @Test("Tokens that have expired are no guesses, and those with a wrong signature are")
    func expiredTokens() async throws {
        // Given
        let keys = KeySet([try TokenSigner.es256.verificationKey(id: "k1")])
        var configuration = try TokenServer.configuration(.fixed(keys))
        (configuration.trustedProxies, configuration.quotas.address.failures) = ([], Rate(3, per: 60_000))
        try await TokenServer.with(configuration) { (server: TokenServer) async throws in
            let status = { (signer: TokenSigner, subject: Int, life: Int64) in
                let changes = ["sub": #""u\#(subject)""#, "exp": "\(server.clock.wall / 1_000 + life)"]
                return try await server.status(signer, changes, id: "k1", of: "articles/1")
            }
            // When devices behind one address send tokens of yesterday
            for subject in 0..<5 { #expect(try await status(.es256, subject, 0) == 401) }
            // Then others are served, until somebody guesses
            #expect(try await status(.es256, 5, 600) == 404)
            let stranger = TokenSigner(.es256)
            for subject in 0..<3 { #expect(try await status(stranger, subject, 600) == 401) }
            #expect(try await status(.es256, 6, 600) == 429)
        }
    }

    @Test("Requests without a credential are limited by address, and those of a proxy are not")
    func unauthenticated() async throws {
        for isProxy in [false, true] {
            try await Self.with({ $0.address.unauthenticated = Rate(2, per: 1_000) }, proxies: isProxy) { server, clock in
                var statuses: [Int] = []
                for _ in 0..<3 { statuses.append(try await status(server, nil)) }
                #expect(statuses == (isProxy ? [401, 401, 401] : [401, 401, 429]))
                clock.advance(500)
                #expect(try await status(server, ("Authorization", "Basic YTpi")) == 401)
                // Records that are open to all are not counted
                #expect(try await server.request("GET", "/healthz", nil).status == 200)
            }
        }
    }

    @Test("A principal that sends too many requests is refused, by whatever connection, and no other")
    func requests() async throws {
        try await Self.with({ $0.principal.requests = Rate(3, per: 1_000) }) { server, clock in
            let (first, second) = (try server.key(Self.all).field, try server.key(Self.all).field)
            // Given polls that repeat each other
            let statuses = try await server.test.thread { connection in
                try (0..<4).map { _ in try connection.request("GET", "/v1/shop/changes?since=0&wait=0", [first]).status }
            }
            #expect(statuses == [204, 204, 204, 429])
            let refused = try await server.request("GET", Self.record, first)
            #expect(refused.status == 429 && refused["RateLimit-Policy"] == #""requests";q=3;w=1"#)
            #expect(try await status(server, second) == 404)
            clock.advance(1_000)
            #expect(try await status(server, first) == 404)
        }
    }

    @Test("A batch beyond the rate of writes does nothing, and uses no number")
    func writes() async throws {
        try await Self.with({ $0.principal.writes = Rate(3, per: 60_000) }) { server, clock in
            let key = try server.key(Self.all).field
            let batch = { @Sendable (numbers: ClosedRange<Int>) in
                let writes = numbers.map { #"{"number":\#($0),"op":"put","key":"a/\#($0)","value":1}"# }
                return #"{"client":"c","writes":[\#(writes.joined(separator: ","))]}"#
            }
            // Given
            #expect(try await server.post("/v1/shop/writes", key, batch(1...2)).status == 200)
            // When
            let refused = try await server.post("/v1/shop/writes", key, batch(3...4))
            // Then
            #expect(refused.status == 429 && refused["RateLimit"]?.hasPrefix(#""writes";r=1"#) == true)
            let number = try await server.request("GET", "/v1/shop/clients/c", key).message(ClientStatus.self).last
            #expect(number == 2)
            #expect(try await server.request("PUT", Self.record, key, TestServer.json, "1").status == 200)
            #expect(try await server.request("PUT", Self.record, key, TestServer.json, "1").status == 429)
            clock.advance(40_000)
            #expect(try await server.post("/v1/shop/writes", key, batch(3...4)).status == 200)
        }
    }

    @Test("An invalidation counts as a write for each of its scopes")
    func invalidations() async throws {
        try await Self.with({ $0.principal.writes = Rate(3, per: 60_000) }) { server, _ in
            let key = try server.key(#"[{"ns":"shop","in":["*"],"may":["create","write","invalidate"]}]"#).field
            let body = { @Sendable (count: Int) in
                #"{"keys":[\#((0..<count).map { #""a/\#($0)""# }.joined(separator: ","))]}"#
            }
            #expect(try await server.post("/v1/shop/invalidations", key, body(2)).status == 200)
            #expect(try await server.post("/v1/shop/invalidations", key, body(2)).status == 429)
            #expect(try await server.request("PUT", Self.record, key, TestServer.json, "1").status == 200)
            #expect(try await server.request("PUT", Self.record, key, TestServer.json, "1").status == 429)
        }
    }

    @Test("Polls without a credential that repeat each other on one connection are limited by address")
    func repeatedPolls() async throws {
        let anonymous = try Rights(json: Array(#"[{"ns":"shop","in":["*"],"may":["read"]}]"#.utf8))
        let clock = TestClock()
        try await AccessServer.with(
            { configuration in
                configuration.trustedProxies = []
                configuration.anonymous = anonymous
                configuration.quotas.address.unauthenticated = Rate(3, per: 60_000)
            }, environment: clock.environment
        ) { server in
            let statuses = try await server.test.thread { connection in
                try (0..<5).map { _ in try connection.request("GET", "/v1/shop/changes?since=0&wait=0").status }
            }
            #expect(statuses == [204, 204, 204, 429, 429])
        }
    }

    @Test("Bytes of bodies are limited")
    func bytes() async throws {
        try await Self.with({ $0.principal.bytes = Rate(10, per: 60_000) }) { server, _ in
            let key = try server.key(Self.all).field
            #expect(try await server.request("PUT", Self.record, key, TestServer.json, "123456").status == 201)
            #expect(try await server.request("PUT", Self.record, key, TestServer.json, "123456").status == 429)
            #expect(try await status(server, key) == 200)
        }
    }

    @Test("A principal has so many waits at once, polls and streams together, and more once one has ended")
    func waits() async throws {
        try await Self.with({ $0.principal.waits = 2 }) { server, _ in
            let (key, other) = (try server.key(Self.all).field, try server.key(Self.all).field)
            _ = try await server.request("PUT", Self.record, key, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", Self.record, key).cursor)
            let target = "/v1/shop/changes?wait=60&since=\(cursor)"
            async let poll = server.request("GET", target, key)
            async let stream = server.test.thread { connection in
                try connection.sendRequest("GET", target, [key, ("Accept", "text/event-stream")])
                _ = try connection.read(through: "\r\n\r\n")
                return try connection.readEvent()
            }
            try await server.test.waitUntil(waiting: 2, in: "shop", other)
            // When one more would wait
            let refused = try await server.request("GET", target, key)
            #expect(refused.status == 429 && refused["Retry-After"] != nil)
            #expect(try await server.request("GET", target, [key, ("Accept", "text/event-stream")]).status == 429)
            // Then one that does not wait is answered, and so is another principal
            #expect(try await server.request("GET", "/v1/shop/changes?wait=0&since=\(cursor)", key).status == 204)
            // When both have ended
            _ = try await server.request("PUT", Self.record, other, TestServer.json, "2")
            #expect(try await poll.status == 200)
            #expect(try await !stream.isEmpty)
            // Then the principal may wait again
            var again = 429
            while again == 429 { again = try await server.request("GET", "/v1/shop/changes?wait=1&since=0", key).status }
            #expect(again == 200)
        }
    }
}

extension AccessServer {
    fileprivate func request(_ method: String, _ target: String, _ fields: [(String, String)]) async throws -> Reply {
        try await test.request(method, target, fields)
    }
}
