import FreshetWire
import HTTPTypes
import Testing

@testable import FreshetServer

@Suite("Pages of allowed origins") struct CrossOriginTests {
    private static let origin = ("Origin", "https://app.example")
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","create"]}]"#

    private static func with(_ body: (AccessServer) async throws -> Void) async throws {
        try await AccessServer.with {
            $0.allowedOrigins = ["https://App.example", "https://other.example"]
        } _: {
            try await body($0)
        }
    }

    /// Whether a page of the origin may read a response.
    private static func mayRead(_ reply: Reply, _ origin: String = origin.1) -> Bool {
        reply["Access-Control-Allow-Origin"] == origin && reply["Vary"] == "Origin" && reply["Access-Control-Allow-Credentials"] == nil
            && reply["Access-Control-Expose-Headers"]?.contains("Freshet-Cursor") == true
    }

    private static func hasNoFields(_ reply: Reply) -> Bool {
        reply.fields.allSatisfy { !$0.name.hasPrefix("access-control-") && $0.name != "vary" }
    }

    @Test("A preflight request is answered from the table of endpoints, without a token", arguments: Endpoint.allCases)
    func preflight(endpoint: Endpoint) async throws {
        try await Self.with { server in
            // When
            let path = endpoint.pattern.replacing("{namespace}", with: "shop").replacing("{", with: "").replacing("}", with: "")
            let asks = [("Access-Control-Request-Method", endpoint.method.rawValue), ("Access-Control-Request-Headers", "authorization")]
            let allowed = try await server.test.request("OPTIONS", path, [Self.origin] + asks)
            let foreign = try await server.test.request("OPTIONS", path, [("Origin", "https://evil.example")] + asks)
            // Then
            #expect(allowed.status == 204 && Self.mayRead(allowed))
            let methods = allowed["Access-Control-Allow-Methods"]?.split(separator: ", ").map(String.init) ?? []
            #expect(methods.contains(endpoint.method.rawValue) && allowed["Allow"] == methods.joined(separator: ", "))
            #expect(
                allowed["Access-Control-Allow-Headers"]
                    == "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Freshet-Client, Freshet-Write")
            #expect(allowed["Access-Control-Max-Age"] == "7200")
            #expect(foreign.status == 204 && Self.hasNoFields(foreign))
            #expect(server.test.server.core?.feeds.totals().feeds == 0)
        }
    }

    @Test("Every response to such a page has the fields, errors too, and no other response has them")
    func responses() async throws {
        try await Self.with { server in
            let key = try server.key(Self.all).field
            for (method, path, fields, body) in [
                ("PUT", "/v1/shop/records/c/1", TestServer.json + [key], "1" as String?), ("GET", "/v1/shop/records/c/1", [key], nil),
                ("GET", "/v1/shop/records/c/2", [key], nil), ("GET", "/v1/shop/records/c/1", [], nil), ("GET", "/v1/other", [key], nil),
                ("GET", "/none", [], nil), ("POST", "/healthz", [], nil), ("GET", "/v1/shop/changes?since=0&wait=0", [key], nil),
                ("HEAD", "/v1/shop/records/c/1", [key], nil),
            ] {
                let allowed = try await server.test.request(method, path, fields + [Self.origin], body)
                let other = try await server.test.request(method, path, fields + [("Origin", "https://other.example")], body)
                let none = try await server.test.request(method, path, fields, body)
                let foreign = try await server.test.request(method, path, fields + [("Origin", "https://evil.example")], body)
                #expect(Self.mayRead(allowed) && Self.mayRead(other, "https://other.example"), "\(method) \(path)")
                #expect(Self.hasNoFields(none) && Self.hasNoFields(foreign), "\(method) \(path)")
                // Then the response is otherwise the same
                let isWrite = method == "PUT"
                #expect(isWrite || allowed.status == none.status && allowed.body == none.body, "\(method) \(path)")
                #expect(foreign.status == (isWrite ? 403 : none.status), "\(method) \(path)")
            }
        }
    }

    @Test("Waiting polls that share a response get the fields of the origin of each, again and again")
    func polls() async throws {
        try await Self.with { server in
            // Given
            let key = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/c/1", key, TestServer.json, "1")
            let access = try #require(server.test.server.core)
            let poll = { @Sendable (fields: [(String, String)]) async throws -> [Reply] in
                try await server.test.thread { connection in
                    var replies = [try connection.request("GET", "/v1/shop/changes?since=now", fields)]
                    for _ in 0..<2 {
                        let cursor = replies.last?.cursor?.description ?? ""
                        replies.append(try connection.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60", fields))
                    }
                    return replies
                }
            }
            async let allowed = poll([key, Self.origin])
            async let other = poll([key, ("Origin", "https://other.example")])
            async let plain = poll([key])
            // When two changes are delivered to all
            let namespace = try Namespace("shop")
            for number in 2...3 {
                while access.feeds.waiting(in: namespace) < 3 { await Task.yield() }
                _ = try await server.request("PUT", "/v1/shop/records/c/\(number)", key, TestServer.json, "1")
            }
            // Then
            let (first, second, third) = try await (allowed, other, plain)
            #expect(first.allSatisfy { $0.status == 200 && Self.mayRead($0) })
            #expect(second.allSatisfy { Self.mayRead($0, "https://other.example") })
            #expect(third.allSatisfy(Self.hasNoFields))
            #expect(first.map(\.body) == third.map(\.body))
        }
    }

    @Test("A stream has the fields")
    func stream() async throws {
        try await Self.with { server in
            let key = try server.key(Self.all).field
            let head = try await server.test.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=now", [key, Self.origin, ("Accept", "text/event-stream")])
                return try connection.readHead()
            }
            #expect(head.status == 200 && Self.mayRead(head))
        }
    }

    @Test("A reload replaces the origins")
    func reload() async throws {
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        configuration.allowedOrigins = ["https://app.example"]
        try await TestServer.with(configuration) { server in
            #expect(Self.mayRead(try await server.request("GET", "/healthz", [Self.origin])))
            // When
            var other = configuration
            other.allowedOrigins = ["https://new.example"]
            try server.server.reload(other)
            // Then
            #expect(Self.hasNoFields(try await server.request("GET", "/healthz", [Self.origin])))
            let new = try await server.request("GET", "/healthz", [("Origin", "https://new.example")])
            #expect(Self.mayRead(new, "https://new.example"))
        }
    }

    @Test("More origins than browsers of one application need are refused at the start")
    func bound() {
        var configuration = RecordServerConfiguration()
        configuration.allowedOrigins = (0...256).map { "https://\($0).example" }
        #expect(throws: RecordServerError.self) { try configuration.check() }
    }
}
