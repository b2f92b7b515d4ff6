import FreshetPlatform
import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// Requests whose senders may not do them are refused before a large body has arrived.
@Suite("Admission of bodies by the server") struct BodyAdmissionTests {
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#
    private static let size = 1 << 20

    /// The answer to a request without the body that its head states.
    private static func answer(
        of server: TestServer, to method: String, _ target: String, _ fields: [(String, String)], expectsContinue: Bool = false
    ) async throws -> Reply {
        try await server.thread { connection in
            let fields = fields + [("Content-Length", "\(size)")] + (expectsContinue ? [("Expect", "100-continue")] : [])
            try connection.sendRequest(method, target, fields)
            let reply = try connection.readReply()
            // A refused connection ends.
            if reply.status != 100 { _ = try connection.readToEnd() }
            return reply
        }
    }

    @Test(
        "A request without the right to write is refused before the body: no key, an unknown one, one without the right, a wrong host and path"
    )
    func refusals() async throws {
        try await AccessServer.with { server in
            let (reader, writer) = (
                try server.key(#"[{"ns":"shop","in":["*"],"may":["read"]}]"#).field, try server.key(Self.all).field
            )
            var random = SystemRandomNumberGenerator()
            let unknown = ("Authorization", "Bearer " + String(decoding: AccessKey(using: &random).token.exposed, as: UTF8.self))
            let path = "/v1/shop/records/a/1"
            let cases: [(fields: [(String, String)], target: String, status: Int)] = [
                ([], path, 401), ([unknown], path, 401), ([("Authorization", "Basic eDp5")], path, 401), ([reader], path, 403),
                ([writer, ("Origin", "https://evil.example")], path, 403), ([writer], "/v1/shop/nothing/a", 404),
                ([writer], "/v1/shop/changes", 405),
            ]
            for (fields, target, status) in cases {
                let reply = try await Self.answer(of: server.test, to: "PUT", target, fields)
                #expect(reply.status == status && reply["Freshet-Store"] != nil, "\(fields) \(target)")
                #expect(status != 401 || reply["WWW-Authenticate"] != nil)
            }
            // And the operators' endpoints, for a key that is not theirs
            #expect(try await Self.answer(of: server.test, to: "POST", "/admin/keys", [writer]).status == 403)
            // And who may write is asked for the body
            #expect(try await Self.answer(of: server.test, to: "PUT", path, [writer], expectsContinue: true).status == 100)
            let value = String(repeating: "a", count: Self.size)
            #expect(try await server.request("PUT", path, writer, [("Content-Type", "text/plain")], value).status == 201)
        }
    }

    @Test("A token is verified before the body is received")
    func tokens() async throws {
        let issuer = ScriptedIssuer(.keys([.es256], ids: ["k1"]))
        let configuration = try TokenServer.configuration(.url("https://id.example.org/keys"), by: issuer.fetch)
        try await TokenServer.with(configuration) { (server: TokenServer) async throws in
            let test = server.server.test
            let path = "/v1/shop/records/carts/u7%2F1"
            // Given a token of another key, one for another user, and a good one
            let forged = server.field(.es256, id: "unknown")
            let other = server.field(.es256, ["sub": #""u8""#], id: "k1")
            let good = server.field(.es256, id: "k1")
            // Then only the last is asked for its body
            #expect(try await Self.answer(of: test, to: "PUT", path, [forged]).status == 401)
            #expect(try await Self.answer(of: test, to: "PUT", path, [other]).status == 403)
            #expect(try await Self.answer(of: test, to: "PUT", path, [good], expectsContinue: true).status == 100)
        }
    }

    @Test("A server that is open to all refuses a page of another origin before the body")
    func openServer() async throws {
        try await TestServer.with { (server: TestServer) async throws in
            let path = "/v1/shop/records/a/1"
            #expect(try await Self.answer(of: server, to: "PUT", path, [("Origin", "https://evil.example")]).status == 403)
            #expect(try await Self.answer(of: server, to: "PUT", path, [], expectsContinue: true).status == 100)
        }
    }

    @Test("An anonymous write with a large body is counted once")
    func counted() async throws {
        let clock = TestClock()
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        configuration.trustedProxies = []
        configuration.anonymous = try Rights(json: Array(Self.all.utf8))
        configuration.quotas.address.unauthenticated = Rate(2, per: 1_000)
        try await TestServer.with(configuration, environment: clock.environment) { server in
            let value = String(repeating: "a", count: Self.size)
            var statuses: [Int] = []
            for number in 0..<3 {
                statuses.append(
                    try await server.request("PUT", "/v1/shop/records/a/\(number)", [("Content-Type", "text/plain")], value).status)
            }
            #expect(statuses == [201, 201, 429])
        }
    }

    @Test("A request that is refused before its body is counted by the rate of its address")
    func refusedIsCounted() async throws {
        let clock = TestClock()
        var configuration = RecordServerConfiguration()
        configuration.requiresKeys = true
        configuration.trustedProxies = []
        configuration.anonymous = try Rights(json: Array(#"[{"ns":"shop","in":["*"],"may":["read"]}]"#.utf8))
        configuration.quotas.address.unauthenticated = Rate(2, per: 1_000)
        try await TestServer.with(configuration, environment: clock.environment) { server in
            var statuses: [Int] = []
            for _ in 0..<3 {
                let reply = try await Self.answer(of: server, to: "PUT", "/v1/shop/records/a/1", [], expectsContinue: true)
                statuses.append(reply.status)
            }
            #expect(statuses == [403, 403, 429])
        }
    }
}
