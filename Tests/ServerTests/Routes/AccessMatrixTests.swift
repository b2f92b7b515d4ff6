import FreshetTestSupport
import FreshetTrust
import FreshetWire
import HTTPTypes
import Testing

@testable import FreshetServer

/// Every endpoint with every kind of credential. A new endpoint does not compile without its row.
@Suite("Access to each endpoint", .overBothStores) struct AccessMatrixTests {
    private static let isPublic: Set<Endpoint> = [.getHealth, .getOpenAPI]
    private static let isForAdministrators: Set<Endpoint> = [
        .listKeys, .makeKey, .getKey, .changeKey, .rotateKey, .revokeKey, .listRevocations, .makeRevocation, .listDenials, .reload,
        .getReadiness, .getMetrics,
    ]
    private static let concernsNamespace: Set<Endpoint> = [.getNamespace, .deleteNamespace, .checkAccess]
    /// Those that any session may use: they show what is the session's own.
    private static let isForEverySession: Set<Endpoint> = [.getRights, .getServer]
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#
    private static let part = #"[{"ns":"shop","in":["articles"],"may":["read","write","invalidate"]}]"#

    private func status(
        _ server: AccessServer, _ endpoint: Endpoint, _ sample: EndpointSample, _ key: (String, String)?
    ) async throws -> Int {
        let reply = try await server.request(endpoint.method.rawValue, sample.target, key, sample.fields, sample.body)
        if reply.status == 401 || reply.status == 403 { #expect(reply.cursor == nil, "\(endpoint) states its position") }
        if reply.status == 401 { #expect(reply["WWW-Authenticate"]?.hasPrefix(#"Bearer realm="freshet""#) == true, "\(endpoint)") }
        return reply.status
    }

    @Test("Without a valid key only the health and the OpenAPI document are answered", arguments: Endpoint.allCases)
    func unauthenticated(endpoint: Endpoint) async throws {
        try await AccessServer.with { server in
            let disabled = try server.key(Self.all, isAdmin: true)
            var stored = disabled.stored
            stored.isDisabled = true
            try server.test.server.core?.keep(stored)
            let expired = try server.key(Self.all, isAdmin: true, expires: 1)
            let unknown = "fk_aaaaaaaaaa_" + String(repeating: "0", count: 49)
            let credentials: [(String, String)?] = [
                nil, ("Authorization", "Basic YTpi"), ("Authorization", "Bearer "), ("Authorization", "Bearer nonsense"),
                ("Authorization", "Bearer \(unknown)"), ("Authorization", disabled.field.1 + "0"), disabled.field, expired.field,
            ]
            for credential in credentials {
                let found = try await status(server, endpoint, EndpointSample(of: endpoint), credential)
                #expect(Self.isPublic.contains(endpoint) ? found == 200 : found == 401, "\(endpoint) with \(credential?.1 ?? "nothing")")
            }
        }
    }

    @Test("A token that is not valid opens only endpoints that are open to all", arguments: Endpoint.allCases)
    func invalidTokens(endpoint: Endpoint) async throws {
        let keys = try KeySet([TokenSigner.hs256.verificationKey()])
        try await TokenServer.with(TokenServer.configuration(.fixed(keys))) { (tokens: TokenServer) async throws in
            let past = tokens.clock.wall / 1_000
            let rights: [String: String?] = ["freshet": Self.all, "freshet_role": nil]
            let changes: [[String: String?]] = [["exp": "\(past)"], ["aud": #""other""#], ["iss": #""other""#], ["sub": nil]]
            for change in changes {
                let field = tokens.field(.hs256, rights.merging(change) { $1 })
                let found = try await status(tokens.server, endpoint, EndpointSample(of: endpoint), field)
                #expect(Self.isPublic.contains(endpoint) ? found == 200 : found == 401, "\(endpoint) with \(change)")
            }
        }
    }

    @Test("A token reaches what its grants name, and nothing else", arguments: Endpoint.allCases)
    func tokens(endpoint: Endpoint) async throws {
        let keys = try KeySet([TokenSigner.hs256.verificationKey()])
        try await TokenServer.with(TokenServer.configuration(.fixed(keys))) { (tokens: TokenServer) async throws in
            // Given
            let server = tokens.server
            let everything = tokens.field(.hs256, ["freshet": Self.all, "freshet_role": nil])
            _ = try await server.request("PUT", "/v1/shop/records/articles/1", everything, TestServer.json, "1")
            let part = tokens.field(.hs256, ["freshet": Self.part, "freshet_role": nil, "sub": #""u8""#])
            // When
            let inside = try await status(server, endpoint, EndpointSample(of: endpoint), part)
            let elsewhere = try await status(server, endpoint, EndpointSample(of: endpoint, namespace: "other"), everything)
            // Then
            let isAdministrative = Self.isForAdministrators.contains(endpoint)
            #expect((inside == 403) == (isAdministrative || Self.concernsNamespace.contains(endpoint)))
            let isOpen = Self.isPublic.contains(endpoint) || Self.isForEverySession.contains(endpoint)
            #expect((elsewhere == 403) == !isOpen, "\(endpoint) in another namespace")
        }
    }

    @Test("A key reaches what its grants name, and nothing else", arguments: Endpoint.allCases)
    func rights(endpoint: Endpoint) async throws {
        try await AccessServer.with { server in
            // Given a namespace with a record, and three keys
            let everything = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/articles/1", everything, TestServer.json, "1")
            let part = try server.key(Self.part).field
            let administrator = try server.key(Self.all, isAdmin: true).field
            // When and then
            let inside = EndpointSample(of: endpoint)
            let byAll = EndpointSample(of: endpoint, client: "all")
            let byAdministrator = EndpointSample(of: endpoint, client: "administrator")
            let isAdministrative = Self.isForAdministrators.contains(endpoint)
            #expect(
                (try await status(server, endpoint, inside, part) == 403) == (isAdministrative || Self.concernsNamespace.contains(endpoint))
            )
            #expect((try await status(server, endpoint, byAll, everything) == 403) == isAdministrative)
            #expect(try await status(server, endpoint, byAdministrator, administrator) != 403)
            let elsewhere = try await status(server, endpoint, EndpointSample(of: endpoint, namespace: "other"), everything)
            let isOpen = Self.isPublic.contains(endpoint) || Self.isForEverySession.contains(endpoint)
            #expect((elsewhere == 403) == !isOpen, "\(endpoint) in another namespace")
            let outside = try await status(server, endpoint, EndpointSample(of: endpoint, in: "orders"), part)
            // Batches, reads and the client's number are decided by the namespace here, and record by record within.
            let isDecidedWithin: Set<Endpoint> = [.read, .write, .getClient, .makeTicket]
            #expect((outside == 403) == (!isOpen && !isDecidedWithin.contains(endpoint)), "\(endpoint) outside of the range")
        }
    }

    /// Sends a sample over the admin socket.
    private func operate(_ server: AccessServer, _ path: String, _ endpoint: Endpoint, _ sample: EndpointSample) async throws -> Reply {
        let (method, target, fields, body) = (endpoint.method.rawValue, sample.target, sample.fields, sample.body.map { Array($0.utf8) })
        return try await server.test.thread(socket: path) { try $0.request(method, target, fields, body: body) }
    }

    private func isHidden(_ reply: Reply) -> Bool { reply.status == 404 && reply.text.contains("Nothing is at this path") }

    @Test("The admin socket serves each endpoint without a key, and other listeners have none of operators", arguments: Endpoint.allCases)
    func adminSocket(endpoint: Endpoint) async throws {
        let folder = TemporaryDirectory()
        let path = folder.file("admin.sock")
        try await AccessServer.with({ $0.adminSocket = path }) { (server: AccessServer) async throws in
            // Given
            let administrator = try server.key(Self.all, isAdmin: true).field
            #expect(try await operate(server, path, .putRecord, EndpointSample(of: .putRecord)).status == 201)
            // When
            let sample = EndpointSample(of: endpoint)
            let operated = try await operate(server, path, endpoint, sample)
            let elsewhere = try await server.request(endpoint.method.rawValue, sample.target, administrator, sample.fields, sample.body)
            let anonymous = try await server.request(endpoint.method.rawValue, sample.target, nil, sample.fields, sample.body)
            // Then
            // A ticket stands for a credential, and the operator has none.
            #expect([401, 403].contains(operated.status) == (endpoint == .makeTicket) && !isHidden(operated))
            let isForOperators = Self.isForAdministrators.contains(endpoint) || endpoint == .getServer
            #expect(isHidden(elsewhere) == isForOperators && isHidden(anonymous) == isForOperators)
            if !isForOperators { #expect((anonymous.status == 401) == !Self.isPublic.contains(endpoint)) }
        }
    }
}
