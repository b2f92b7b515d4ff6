import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Tickets of streams", .overBothStores) struct TicketTests {
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","create","inspect"]}]"#
    private static let stream = ("Accept", "text/event-stream")

    private static func ticket(_ server: AccessServer, _ key: (String, String)?, namespace: String = "shop") async throws -> String {
        let reply = try await server.post("/v1/\(namespace)/tickets", key, "{}")
        #expect(reply.status == 201 && reply["Cache-Control"] == "no-store")
        let text = reply.text
        let start = try #require(text.firstRange(of: #"{"ticket":""#)?.upperBound)
        return String(text[start...].prefix { $0 != "\"" })
    }

    private static func target(_ ticket: String, since: String = "now", namespace: String = "shop") -> String {
        "/v1/\(namespace)/changes?since=\(since)&ticket=\(ticket)"
    }

    /// The status of a stream's request.
    private static func status(_ server: AccessServer, _ target: String, _ fields: [(String, String)] = [stream]) async throws -> Int {
        try await server.test.thread { connection in
            try connection.sendRequest("GET", target, fields)
            return try connection.readHead().status
        }
    }

    @Test("A ticket opens one stream with the rights of its key, and no second one")
    func once() async throws {
        try await AccessServer.with(environment: TestClock().environment) { server in
            // Given a key that may read one collection
            let writer = try server.key(Self.all).field
            for collection in ["articles", "orders"] {
                _ = try await server.request("PUT", "/v1/shop/records/\(collection)/1", writer, TestServer.json, "1")
            }
            let reader = try server.key(#"[{"ns":"shop","in":["articles"],"may":["read"]}]"#).field
            let ticket = try await Self.ticket(server, reader)
            // When
            let page = try await server.test.thread { connection in
                try connection.sendRequest("GET", Self.target(ticket, since: "0"), [Self.stream])
                #expect(try connection.readHead().status == 200)
                return String(decoding: try connection.readEvent(), as: UTF8.self)
            }
            // Then
            #expect(page.contains("articles/1") && !page.contains("orders"))
            let second = try await server.test.request("GET", Self.target(ticket), [Self.stream])
            #expect(second.status == 401 && second["WWW-Authenticate"] == #"Bearer realm="freshet""#)
            #expect(second.problem?.detail.contains("POST tickets") == true && !second.text.contains(ticket))
        }
    }

    @Test("Only a stream of the ticket's namespace without Authorization reads a ticket")
    func place() async throws {
        try await AccessServer.with(environment: TestClock().environment) { server in
            let key = try server.key(#"[{"ns":"*","in":["*"],"may":["read","write","create","inspect"]}]"#).field
            let ticket = try await Self.ticket(server, key)
            // When other requests have the ticket
            for (method, target, fields) in [
                ("GET", Self.target(ticket), []), ("GET", "/v1/shop/records/c/1?ticket=\(ticket)", [Self.stream]),
                ("GET", "/v1/shop?ticket=\(ticket)", [Self.stream]), ("DELETE", "/v1/shop?ticket=\(ticket)", [Self.stream]),
                ("GET", "/admin/keys?ticket=\(ticket)", [Self.stream]),
                ("GET", "/v1/shop/changes?since=now", [Self.stream, ("Authorization", "Bearer \(ticket)")]),
            ] {
                #expect(try await server.test.request(method, target, fields).status == 401, "\(method) \(target)")
            }
            // Then it is good yet, and a request with Authorization does not use it
            #expect(try await Self.status(server, Self.target(ticket), [Self.stream, key]) == 200)
            #expect(try await Self.status(server, Self.target(ticket)) == 200)
            let other = try await Self.ticket(server, key)
            #expect(try await Self.status(server, Self.target(other, namespace: "other")) == 401)
            #expect(try await Self.status(server, Self.target(other)) == 401)
        }
    }

    @Test("A ticket is over after 30 seconds, and with its key")
    func ends() async throws {
        let clock = TestClock()
        try await AccessServer.with(environment: clock.environment) { server in
            let (stored, key) = try server.key(Self.all, expires: clock.wall + 50_000)
            let late = try await Self.ticket(server, key)
            clock.advance(30_000)
            #expect(try await Self.status(server, Self.target(late)) == 401)
            let reply = try await server.post("/v1/shop/tickets", key, "{}")
            let end = Timestamp(milliseconds: clock.wall + 20_000).description
            #expect(reply.text.hasSuffix(#""expires":"\#(end)"}"#))
            // When the key is revoked between purchase and use
            let ticket = try await Self.ticket(server, key)
            try server.test.server.core?.forget(stored.id)
            // Then
            #expect(try await Self.status(server, Self.target(ticket)) == 401)
        }
    }

    @Test("A stream that a ticket opened ends when its key is revoked or expires", arguments: [true, false])
    func streamEnds(isRevoked: Bool) async throws {
        let clock = TestClock()
        try await AccessServer.with(environment: clock.environment) { server in
            let operatorKey = try server.key("[]", isAdmin: true).field
            let watcher = try server.key(Self.all).field
            let (stored, key) = try server.key(Self.all, expires: clock.wall + 60_000)
            let ticket = try await Self.ticket(server, key)
            async let content = server.test.thread { connection in
                try connection.sendRequest("GET", Self.target(ticket), [Self.stream])
                _ = try connection.readHead()
                return [try connection.readEvent(), try connection.readEvent()]
            }
            try await server.test.waitUntil(waiting: 1, in: "shop", watcher)
            // When
            if isRevoked {
                #expect(try await server.request("DELETE", "/admin/keys/\(stored.id)", operatorKey).status == 200)
            } else {
                // The wheel of deadlines turns by 250 ms.
                clock.advance(60_300)
            }
            // Then
            #expect(try await content.map(\.isEmpty) == [false, true])
            try await server.test.waitUntil(waiting: 0, in: "shop", watcher)
        }
    }

    @Test("A ticket of a token lives as the token does")
    func tokens() async throws {
        let keys = try KeySet([TokenSigner.hs256.verificationKey()])
        try await TokenServer.with(TokenServer.configuration(.fixed(keys))) { (tokens: TokenServer) async throws in
            let field = tokens.field(.hs256, ["freshet": Self.all, "freshet_role": nil, "exp": "\(tokens.clock.wall / 1_000 + 10)"])
            let first = try await Self.ticket(tokens.server, field)
            let second = try await Self.ticket(tokens.server, field)
            #expect(try await Self.status(tokens.server, Self.target(first)) == 200)
            tokens.clock.advance(10_000)
            #expect(try await Self.status(tokens.server, Self.target(second)) == 401)
        }
    }

    @Test("Tickets are bounded, and need a credential that may read")
    func bounds() async throws {
        try await AccessServer.with(environment: TestClock().environment) { server in
            let key = try server.key(Self.all).field
            let writer = try server.key(#"[{"ns":"shop","in":["*"],"may":["write"]}]"#).field
            for _ in 0..<32 { _ = try await Self.ticket(server, key) }
            let excess = try await server.post("/v1/shop/tickets", key, "{}")
            #expect(excess.status == 429 && excess["Retry-After"] != nil)
            #expect(try await server.post("/v1/shop/tickets", writer, "{}").status == 403)
            #expect(try await server.post("/v1/shop/tickets", nil, "{}").status == 401)
            for body in ["", "[]", "{", #"{"ticket":"a"}"#, "{} {}"] {
                #expect(try await server.post("/v1/shop/tickets", writer, body).status == 403, "rights come first")
                #expect(try await server.post("/v1/shop/tickets", key, body).status == 400, "\(body)")
            }
            #expect(try await server.test.request("POST", "/v1/shop/tickets", [key], "{}").status == 415)
        }
        try await TestServer.with { server in
            let reply = try await server.request("POST", "/v1/shop/tickets", TestServer.json, "{}")
            #expect(reply.status == 404)
        }
    }

    @Test("Wrong tickets count as refused credentials of their address")
    func failures() async throws {
        // A failure is forgiven after six seconds.
        try await AccessServer.with({ $0.trustedProxies = [] }, environment: TestClock().environment) { server in
            let statuses = try await server.test.thread { connection in
                try (0..<12).map { try connection.request("GET", Self.target("ft_\($0)"), [Self.stream]).status }
            }
            #expect(statuses == Array(repeating: 401, count: 10) + [429, 429])
        }
    }

    @Test("A client without a credential gets no ticket, although it may read")
    func anonymous() async throws {
        try await AccessServer.with {
            $0.anonymous = try Rights(json: Array(Self.all.utf8))
        } _: { server in
            let refused = try await server.post("/v1/shop/tickets", nil, "{}")
            let stream = try await Self.status(server, "/v1/shop/changes?since=now")
            #expect(refused.status == 401 && stream == 200)
        }
    }
}
