import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// A server whose settings are those of `freshet.json`, and another file while it runs.
@Suite("Configuration file of a server") struct ConfigurationFileTests {
    /// A configuration on a free port, with more members of the file.
    private static func configuration(_ members: String = "", listen: String = "127.0.0.1:0") throws -> RecordServerConfiguration {
        let text = #"{"listen":[{"address":"\#(listen)"}]\#(members.isEmpty ? "" : ",")\#(members)}"#
        var configuration = RecordServerConfiguration()
        try configuration.take(try Configuration(json: Array(text.utf8), rules: RecordServerConfiguration.fileRules))
        return configuration
    }

    private static let readers = #""anonymous":[{"ns":"shop","in":["articles"],"may":["read"]}]"#
    private static let fewerReaders = #""anonymous":[{"ns":"shop","in":["prices"],"may":["read"]}]"#

    @Test("A server takes the settings of a file, and requires a credential")
    func settings() throws {
        // When
        let configuration = try Self.configuration(
            #""hosts":["sync.example"],"origins":["https://app.example"],"proxies":["10.0.0.0/8"],\#(Self.readers),"#
                + #""quotas":{"address":{"connections":7},"server":{"requests":"32MiB","answers":"64MiB","feeds":"1MiB"}}"#,
            listen: "[::1]:8180")
        // Then
        #expect(configuration.host == "::1" && configuration.port == 8_180 && configuration.requiresKeys)
        #expect(configuration.hostNames == ["sync.example"] && configuration.allowedOrigins == ["https://app.example"])
        #expect(configuration.trustedProxies == ["10.0.0.0/8"].compactMap(AddressRange.init) && configuration.connectionsPerAddress == 7)
        #expect(configuration.requestMemory == 32 << 20 && configuration.answerMemory == 64 << 20)
        #expect(configuration.recentTotalBytes == 1 << 20 && configuration.anonymous.grants.count == 1)
        // And without them, loopback remains the only proxy
        #expect(try Self.configuration().trustedProxies == AddressRange.loopback)
    }

    @Test("Listeners, each with its certificates, and the one of operators are those of the file")
    func listeners() throws {
        // When
        let text = #"""
            {"listen":[{"address":"0.0.0.0:1","tls":[{"certificate":"a","key":"b"},{"certificate":"/c","key":"d"}],"clientAuthority":"e"},
                       {"address":"[::1]:2"}], "admin": {"socket": "s"}, "quotas": {"address": {"handshakes": "5/s"}}}
            """#
        var configuration = RecordServerConfiguration()
        let file = try Configuration(json: Array(text.utf8), rules: RecordServerConfiguration.fileRules)
        try configuration.take(file, resolve: { $0.hasPrefix("/") ? $0 : "/etc/\($0)" })
        // Then
        #expect(configuration.host == "0.0.0.0" && configuration.port == 1 && configuration.requiresKeys)
        #expect(
            configuration.tls
                == .init(
                    certificates: [.init(chain: "/etc/a", key: "/etc/b"), .init(chain: "/c", key: "/etc/d")], clientAuthority: "/etc/e"))
        #expect(configuration.otherListeners == [.init(host: "::1", port: 2)] && configuration.adminSocket == "/etc/s")
        #expect(configuration.http.limits.handshakesPerAddress == 5 && RecordServerConfiguration().http.limits.handshakesPerAddress == 20)
        // And an address of operators replaces the socket
        let address = #"{"listen":[{"address":"0.0.0.0:1"}],"admin":{"address":"0.0.0.0:3","tls":{"certificate":"a","key":"b"}}}"#
        try configuration.take(try Configuration(json: Array(address.utf8), rules: RecordServerConfiguration.fileRules))
        #expect(configuration.adminSocket == nil && configuration.tls == nil && configuration.otherListeners.isEmpty)
        #expect(configuration.adminListener == .init(host: "0.0.0.0", port: 3, tls: .init(certificates: [.init(chain: "a", key: "b")])))
    }

    @Test("Requests without a credential have the rights of 'anonymous', and no others")
    func anonymous() async throws {
        try await TestServer.with(Self.configuration(Self.readers)) { test in
            // Given
            let server = AccessServer(test: test)
            let operate = try server.key(#"[{"ns":"*","in":["*"],"may":["read","write","create","inspect"]}]"#).field
            for key in ["articles/1", "orders/1"] {
                #expect(try await server.request("PUT", "/v1/shop/records/\(key)", operate, TestServer.json, "1").status == 201)
            }
            // Then
            #expect(try await server.request("GET", "/v1/shop/records/articles/1", nil).status == 200)
            #expect(try await server.request("GET", "/v1/shop/rights", nil).text.hasPrefix(#"{"principal":"anonymous","expires":null"#))
            let refused = try await server.request("GET", "/v1/shop/records/orders/1", nil)
            #expect(refused.status == 403 && refused["WWW-Authenticate"] == nil)
            #expect(try await server.request("DELETE", "/v1/shop/records/articles/1", nil).status == 403)
            // A credential that is not valid is not replaced by none
            #expect(try await server.request("GET", "/v1/shop/records/articles/1", ("Authorization", "Bearer x")).status == 401)
        }
    }

    @Test("Another file ends the waits, and the same bytes of a poll are decided by it")
    func reload() async throws {
        try await TestServer.with(Self.configuration(Self.readers)) { test in
            // Given a reader that polls for the second time, and one by a stream
            let server = AccessServer(test: test)
            let operate = try server.key(#"[{"ns":"*","in":["*"],"may":["read","write","create","inspect"]}]"#).field
            _ = try await server.request("PUT", "/v1/shop/records/articles/1", operate, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop/records/articles", nil).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let polls = test.thread { connection in
                _ = try connection.request("GET", "/v1/shop/changes?since=0&wait=60")
                let waited = try connection.request("GET", target)
                let again = try connection.request("GET", target)
                return [waited.status, again.status]
            }
            async let stream = test.thread { connection in
                try connection.sendRequest("GET", target, [("Accept", "text/event-stream")])
                _ = try connection.read(through: "\r\n\r\n")
                return try connection.readEvent()
            }
            try await test.waitUntil(waiting: 2, in: "shop", operate)
            // When
            try test.server.reload(try Self.configuration(Self.fewerReaders))
            // Then the poll has its position, and the next one is of other rights
            #expect(try await polls == [204, 410])
            #expect(try await stream.isEmpty)
            #expect(try await server.request("GET", "/v1/shop/records/articles/1", nil).status == 403)
            #expect(try await server.request("GET", "/v1/shop/records/articles/1", operate).status == 200)
            // When nobody may read without a credential
            try test.server.reload(try Self.configuration(#""hosts":["sync.example"]"#))
            // Then
            #expect(try await server.request("GET", "/v1/shop/records/articles/1", nil).status == 401)
            let named = try await test.thread { connection in
                try connection.send(Array("GET /healthz HTTP/1.1\r\nHost: sync.example\r\n\r\n".utf8))
                return try connection.readReply().status
            }
            #expect(named == 200)
        }
    }

    @Test("A namespace has the quotas of the file, and those of the next one after a reload")
    func quotas() async throws {
        try await TestServer.with(Self.configuration(#""quotas":{"namespace":{"storage":"10B"}}"#)) { test in
            // Given
            let server = AccessServer(test: test)
            let key = try server.key(#"[{"ns":"shop","in":["*"],"may":["read","write","create","inspect"]}]"#).field
            let put = { (id: String, value: String) in
                try await server.request("PUT", "/v1/shop/records/a/\(id)", key, TestServer.json, value)
            }
            #expect(try await put("1", "12345678").status == 201)
            // When
            let refused = try await put("2", "123")
            // Then nothing was done, and the response names the setting
            #expect(refused.status == 507 && refused.problem?.code == .quotaExceeded && refused.cursor?.revision.number == 1)
            #expect(refused.text.contains("quotas.namespace.storage") && refused["Retry-After"] == nil)
            let batch = #"{"client":"c","writes":[{"number":1,"op":"put","key":"a/2","value":123}]}"#
            #expect(try await server.post("/v1/shop/writes", key, batch).status == 507)
            #expect(try await server.request("GET", "/v1/shop/clients/c", key).message(ClientStatus.self).last == 0)
            #expect(try await server.request("GET", "/v1/shop/records/a/2", key).status == 404)
            // When the file has another quota
            try test.server.reload(try Self.configuration(#""quotas":{"namespace":{"storage":"11B"}}"#))
            // Then
            #expect(try await server.post("/v1/shop/writes", key, batch).status == 200)
            #expect(try await put("3", "1").status == 507)
            #expect(try await server.request("DELETE", "/v1/shop/records/a/1", key).status == 200)
            #expect(try await put("3", "1").status == 201)
        }
    }

    @Test("A file that changes what a running server cannot change is refused, and nothing of it is applied")
    func refusedReload() async throws {
        try await TestServer.with(Self.configuration(Self.readers)) { test in
            for (other, name) in [
                (try Self.configuration(listen: "127.0.0.1:1"), "listen"),
                (try Self.configuration(#""admin":{"socket":"/run/a"}"#), "admin"),
                (try Self.configuration(#""quotas":{"address":{"handshakes":"1/s"}}"#), "quotas.address.handshakes"),
                (try Self.configuration(#""quotas":{"server":{"feeds":"1MiB"}}"#), "quotas.server.feeds"),
                (try Self.configuration(#""quotas":{"server":{"requests":"1MiB"}}"#), "requestMemory"),
            ] {
                let error = #expect(throws: RecordServerError.self) { try test.server.reload(other) }
                #expect(error?.description.contains(name) == true)
            }
            #expect(try await test.request("GET", "/v1/shop/records/articles/1").status == 404)
        }
        try await TestServer.with { test in
            _ = #expect(throws: RecordServerError.self) { try test.server.reload(try Self.configuration()) }
        }
    }
}
