import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Pages of other origins") struct AccessRulesTests {
    private static let record = "/v1/shop/records/c/1"

    /// A request as a browser or another client sends it, and the status of its answer.
    private static func send(
        _ server: TestServer, _ method: String, _ target: String, _ lines: [String], version: String = "1.1"
    ) async throws -> Reply {
        let hasBody = method == "PUT"
        let text = ["\(method) \(target) HTTP/\(version)"] + lines + (hasBody ? ["Content-Length: 1"] : [])
        return try await server.thread { connection in
            try connection.send(Array((text.joined(separator: "\r\n") + "\r\n\r\n" + (hasBody ? "1" : "")).utf8))
            return try connection.readReply()
        }
    }

    private static func expect(
        _ status: Int, _ server: TestServer, _ method: String, _ target: String, _ lines: [String], version: String = "1.1"
    ) async throws {
        let reply = try await send(server, method, target, lines, version: version)
        #expect(reply.status == status, "\(method) \(target) \(lines)")
    }

    private static func start(_ change: (inout RecordServerConfiguration) -> Void = { _ in }) -> RecordServerConfiguration {
        var configuration = RecordServerConfiguration()
        change(&configuration)
        return configuration
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8180", "[::1]:8180", "[::1]", "10.1.2.3", "localhost", "LocalHost:80", "localhost.", "shop.localhost:1",
    ])
    func anAddressAndLocalhostNameTheServer(_ host: String) async throws {
        try await TestServer.with { server in
            try await Self.expect(404, server, "GET", Self.record, ["Host: \(host)"])
        }
    }

    @Test(arguments: [
        "rebind.example", "rebind.example:8180", "notlocalhost", "localhost.example", "127.0.0.1.example", "1.2.3.4x", "", "x",
        ".localhost.a",
    ])
    func anyOtherNameIsMisdirected(_ host: String) async throws {
        try await TestServer.with { server in
            // When a page whose name was made to resolve to this address reads, writes, or asks how the server is
            for (method, target) in [("GET", Self.record), ("PUT", Self.record), ("GET", "/v1/shop/changes"), ("GET", "/healthz")] {
                let reply = try await Self.send(server, method, target, ["Host: \(host)"])
                // Then it learns how the server is named, and nothing else
                #expect(reply.status == 421 && reply.problem?.code == .misdirectedRequest && reply["Freshet-Cursor"] == nil)
                #expect(reply.problem?.detail.contains("--host-name") == true)
            }
            #expect(try await server.request("GET", Self.record).status == 404)
        }
    }

    @Test(arguments: [("GET", "/v1/shop/none", 404), ("DELETE", "/v1/shop/changes", 405), ("BREW", "/v1/shop", 501), ("GET", "/none", 404)])
    func aRequestThatNoRouteTakesStatesNoPosition(_ method: String, _ target: String, _ status: Int) async throws {
        try await TestServer.with { server in
            // Given
            try await server.put(Self.record, "1")
            for host in ["rebind.example", "localhost"] {
                // When
                let reply = try await Self.send(server, method, target, ["Host: \(host)"])
                // Then it has no position
                #expect(reply.status == status && reply.problem != nil && reply["Freshet-Cursor"] == nil, "\(host)")
            }
        }
    }

    @Test func theAuthorityOfAnAbsoluteTargetCountsInsteadOfHost() async throws {
        try await TestServer.with { server in
            let target = "http://rebind.example:80" + Self.record
            try await Self.expect(421, server, "GET", target, ["Host: localhost"])
            try await Self.expect(404, server, "GET", "http://localhost" + Self.record, ["Host: rebind.example"])
        }
    }

    @Test func aRequestOfHTTP10NeedsNoHost() async throws {
        try await TestServer.with { server in
            try await Self.expect(404, server, "GET", Self.record, [], version: "1.0")
        }
    }

    @Test func configuredNamesAreTakenWithAnyPortAndInAnyCase() async throws {
        try await TestServer.with(Self.start { $0.hostNames = ["Sync.example"] }) { server in
            for host in ["sync.example", "SYNC.EXAMPLE:8180", "sync.example.:80"] {
                try await Self.expect(404, server, "GET", Self.record, ["Host: \(host)"])
            }
            try await Self.expect(421, server, "GET", Self.record, ["Host: a.sync.example"])
        }
        try await TestServer.with(Self.start { $0.hostNames = ["*"] }) { server in
            try await Self.expect(404, server, "GET", Self.record, ["Host: any.example"])
        }
    }

    @Test(arguments: [
        "Origin: https://evil.example", "Origin: null", "Origin: http://localhost:81", "Origin: http://evil.example/localhost:80",
        "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: Cross-Site",
    ])
    func aPageOfAnotherOriginChangesNothing(_ line: String) async throws {
        try await TestServer.with(Self.start()) { server in
            for (method, target) in [
                ("PUT", Self.record), ("DELETE", Self.record), ("POST", "/v1/shop/writes"),
                ("DELETE", "/v1/shop"),
            ] {
                let reply = try await Self.send(server, method, target, ["Host: localhost:80", line])
                #expect(reply.status == 403 && reply.problem?.code == .forbidden, "\(method) \(target)")
                #expect(reply.problem?.detail.contains("--allow-origin") == true)
                // Nothing is advised that is refused
                #expect(reply.problem?.detail.contains("--allow-origin null") == false)
            }
            // A request that only reads is answered, and the browser keeps the answer from the page
            try await Self.expect(404, server, "GET", Self.record, ["Host: localhost:80", line])
        }
    }

    @Test(arguments: [
        ["Origin: http://localhost:80"], ["Origin: https://LOCALHOST:80"],
        ["Origin: https://app.example:8443", "Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: none"], [],
    ])
    func theServersOwnPageAnAllowedOneAndNoBrowserMayWrite(_ lines: [String]) async throws {
        try await TestServer.with(Self.start { $0.allowedOrigins = ["https://App.example:8443"] }) { server in
            try await Self.expect(201, server, "PUT", Self.record, ["Host: localhost:80"] + lines)
        }
    }

    @Test func aNameOrAnOriginThatCannotMatchIsRefusedAtTheStart() {
        for name in ["https://sync.example", "sync.example:80", "a/b", ""] {
            #expect(throws: RecordServerError.self) { try Self.start { $0.hostNames = [name] }.check() }
        }
        for origin in [
            "app.example", "https://", "https://app.example/", "https://me@app.example", "null", "https://app.example:443",
            "HTTP://app.example:80",
        ] {
            #expect(throws: RecordServerError.self) { try Self.start { $0.allowedOrigins = [origin] }.check() }
        }
        for origin in ["https://app.example:80", "http://app.example:443", "https://app.example:8443"] {
            #expect(throws: Never.self) { try Self.start { $0.allowedOrigins = [origin] }.check() }
        }
    }
}
