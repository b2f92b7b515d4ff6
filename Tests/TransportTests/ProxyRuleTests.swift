import FoundationEssentials
import FreshetTestSupport
import FreshetTransport
import Testing

@Suite struct ProxyRuleTests {
    private static func rule(_ variables: [String: String]) -> ProxyRule { ProxyRule { variables[$0] } }

    private static let everywhere = [
        "http_proxy": "http://ann:secret@proxy.example:3128/", "HTTPS_PROXY": "proxy.example:3129",
        "no_proxy": "intra.example, .local,10.0.0.0/8,192.0.2.7,[2001:db8::1],2001:db8:1::/48",
    ]

    @Test(arguments: [
        "http://127.0.0.1:8080", "http://127.9.9.9", "https://[::1]:8080", "http://localhost:1", "http://a.localhost", "https://LOCALHOST",
        "http://intra.example", "http://a.INTRA.example:80", "https://printer.local", "http://10.200.3.4:8180", "http://192.0.2.7",
        "http://[2001:db8::1]", "https://[2001:db8:1:2::3]",
    ])
    func thisMachineAndExceptionsAreReachedDirectly(_ url: String) {
        #expect(Self.rule(Self.everywhere).proxy(for: url) == nil)
    }

    @Test(arguments: [
        ("http://sync.example", "the proxy http://proxy.example:3128 of http_proxy"),
        ("https://sync.example", "the proxy proxy.example:3129 of HTTPS_PROXY"),
        ("http://notintra.example", "the proxy http://proxy.example:3128 of http_proxy"),
        ("http://11.0.0.1", "the proxy http://proxy.example:3128 of http_proxy"),
        ("http://192.0.2.70", "the proxy http://proxy.example:3128 of http_proxy"),
        ("http://[2001:db8:2::1]", "the proxy http://proxy.example:3128 of http_proxy"),
        ("http://localhost.example", "the proxy http://proxy.example:3128 of http_proxy"),
    ])
    func otherHostsAreReachedThroughTheProxy(_ url: String, _ proxy: String) {
        #expect(Self.rule(Self.everywhere).proxy(for: url)?.description == proxy)
    }

    @Test func variablesThatDoNotCountNameNoProxy() {
        #expect(Self.rule([:]).proxy(for: "http://a.example") == nil)
        #expect(Self.rule(["http_proxy": ""]).proxy(for: "http://a.example") == nil)
        #expect(Self.rule(["HTTP_PROXY": "p:1"]).proxy(for: "http://a.example") == nil)
        #expect(Self.rule(["https_proxy": "p:1"]).proxy(for: "http://a.example") == nil)
        #expect(Self.rule(["all_proxy": "p:1", "no_proxy": "*"]).proxy(for: "http://a.example") == nil)
        #expect(Self.rule(["ALL_PROXY": "p:1"]).proxy(for: "http://a.example")?.description == "the proxy p:1 of ALL_PROXY")
    }

    @Test(
        "a user and password reach the proxy, and no error",
        arguments: [
            ("amy:zqyx", "amy:zqyx"), ("amy:zq%40yx", "amy:zq@yx"), ("amy:zq@yx", "amy:zq@yx"), ("amy:zq#yx", "amy:zq#yx"),
            ("amy:zq/yx", "amy:zq/yx"), ("amy:zq yx", "amy:zq yx"), ("amy:zq://yx", "amy:zq://yx"), ("amy", "amy:"),
        ])
    func credentials(_ written: String, _ sent: String) async throws {
        // Given a proxy that responds with the credentials that it has got
        let proxy = ScriptedServer { connection in
            while let (head, _) = connection.request() {
                let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("proxy-authorization: ") }
                connection.respond(field.map(String.init) ?? "none")
            }
        }
        func outcome(_ address: String) async throws -> Result<HTTPReply, TransportError> {
            var configuration = CurlTransport.Configuration()
            configuration.proxies = Self.rule(["http_proxy": address])
            let transport = try CurlTransport(configuration)
            return try await within { await transport.reply(to: HTTPRequestDescription(url: "http://freshet.invalid/")) }
        }
        // When a request is sent, with the scheme in the variable or without
        for scheme in ["http://", ""] {
            let reply = try await outcome("\(scheme)\(written)@127.0.0.1:\(proxy.port)").get()
            // Then
            #expect(String(decoding: reply.body, as: UTF8.self) == "Proxy-Authorization: Basic \(Data(sent.utf8).base64EncodedString())")
            #expect(reply.proxy == "the proxy \(scheme)127.0.0.1:\(proxy.port) of http_proxy")
        }
        // When the variable has mistakes, of which libcurl quotes its URL; Then that has no credentials, however long they are
        let long = written + String(repeating: "z", count: 300)
        for address in ["http://\(written)@127.0.0.1:x", "nonsense://\(written)@127.0.0.1", "http://\(long)@127.0.0.1:x"] {
            guard case .failure(let error) = try await outcome(address) else {
                Issue.record("\(address) was taken")
                continue
            }
            #expect(error.description.contains("127.0.0.1"))
            for secret in ["amy", "zq", "yx", "zzz"] { #expect(!error.description.contains(secret), "\(error)") }
        }
    }

    @Test("a request goes where the rule says, and what comes of it names the proxy")
    func requests() async throws {
        // Given a proxy that refuses everything
        let proxy = ScriptedServer { connection in
            while connection.request() != nil {
                connection.respond("<html>", status: "403 Forbidden", fields: "Content-Type: text/html\r\n")
            }
        }
        let (bound, port) = Sockets.bound()
        var configuration = CurlTransport.Configuration()
        func reply(_ url: String, _ variables: [String: String]) async throws -> Result<HTTPReply, TransportError> {
            configuration.proxies = Self.rule(variables)
            let transport = try CurlTransport(configuration)
            return await withCheckedContinuation { continuation in
                transport.send(HTTPRequestDescription(url: url)) { continuation.resume(returning: $0) }
            }
        }
        // When another host is requested, then the proxy answers, and the reply states it
        let refused = try await reply("http://freshet.invalid/", ["http_proxy": proxy.url]).get()
        #expect(refused.status == 403 && refused.proxy == "the proxy \(proxy.url) of http_proxy")
        // When the proxy itself cannot be reached; Then the error names it
        guard case .failure(let error) = try await reply("http://freshet.invalid/", ["http_proxy": "http://127.0.0.1:\(port)"]) else {
            Issue.record("it was answered")
            return
        }
        #expect(error.description.contains("the proxy http://127.0.0.1:\(port) of http_proxy"))
        // When this machine is asked; Then no proxy is
        let direct = try await reply(proxy.url, ["http_proxy": "http://127.0.0.1:\(port)"]).get()
        #expect(direct.status == 403 && direct.proxy == nil)
        Sockets.reset(bound)
    }
}
