import FreshetPlatform
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

struct ConfigurationTests {
    static let rules = Configuration.Rules(
        isHostName: { $0.wholeMatch(of: /[A-Za-z0-9._-]+|\*/) != nil }, isOrigin: { $0.wholeMatch(of: /https?:\/\/[a-z0-9.:-]+/) != nil },
        isNetwork: { $0.wholeMatch(of: /[0-9a-f.:]+(\/[0-9]+)?/) != nil })

    /// The example of the design.
    private static let example = """
        {
          "listen": [{"address": "0.0.0.0:8443", "tls": {"certificate": "/etc/freshet/chain.pem", "key": "/etc/freshet/key.pem"}}],
          "admin": {"socket": "/run/freshet/admin.sock"},
          "hosts": ["sync.example.org"], "origins": ["https://app.example.org"], "proxies": ["10.0.0.0/8"],
          "issuers": [{"issuer": "https://id.example.org", "audience": "freshet", "longest": "24h",
                       "keys": {"url": "https://id.example.org/.well-known/jwks.json", "algorithms": ["ES256"]}}],
          "roles": {"till": [{"ns": "shop", "in": ["articles"], "may": ["read"]},
                             {"ns": "shop", "in": ["carts/{sub}/*"], "may": ["read", "write"]}]},
          "anonymous": [],
          "quotas": {"address": {"connections": 1000, "unauthenticated": "20/s", "failures": "10/m"},
                     "principal": {"requests": "200/s", "writes": "100/s", "bytes": "4MiB/s", "waits": 64},
                     "namespace": {"storage": "10GiB", "records": 10000000, "clients": 100000},
                     "server": {"requests": "256MiB", "answers": "512MiB", "feeds": "256MiB"}},
          "audit": "/var/log/freshet/audit.jsonl"
        }
        """

    private static func read(_ text: String) throws(TrustError) -> Configuration { try Configuration(json: Array(text.utf8), rules: rules) }

    /// A file with a listener and these members.
    private static func with(_ members: String) -> String { #"{"listen":[{"address":"127.0.0.1:8180"}],\#(members)}"# }

    /// The length of the file before these members.
    private static let before = with("").utf8.count - 1

    @Test func theExampleIsRead() throws {
        // When
        let configuration = try Self.read(Self.example)
        // Then
        let listener = try #require(configuration.listeners.first)
        #expect(listener.host == "0.0.0.0" && listener.port == 8_443)
        #expect(
            listener.certificates.map(\.chain) == ["/etc/freshet/chain.pem"] && listener.certificates.map(\.key) == ["/etc/freshet/key.pem"]
        )
        #expect(configuration.admin == .socket("/run/freshet/admin.sock"))
        #expect(
            configuration.hosts == ["sync.example.org"] && configuration.origins == ["https://app.example.org"]
                && configuration.proxies == ["10.0.0.0/8"])
        #expect(configuration.issuers.map(\.keys) == [.url("https://id.example.org/.well-known/jwks.json")])
        #expect(
            configuration.issuers.map(\.issuer) == [
                Issuer(name: "https://id.example.org", audience: "freshet", longest: 86_400, algorithms: [.es256])
            ])
        #expect(configuration.roles.keys.sorted() == ["till"] && configuration.anonymous == .none && configuration.longest == 86_400_000)
        #expect(configuration.audit == "/var/log/freshet/audit.jsonl" && !configuration.isAuditRequired)
        var quotas = Quotas()
        quotas.principal = Quotas.Holder(
            requests: Rate(200, per: 1_000), writes: Rate(100, per: 1_000), bytes: Rate(4 << 20, per: 1_000), waits: 64)
        quotas.namespace = Quotas.Space(storage: 10 << 30, records: 10_000_000, clients: 100_000)
        quotas.server = Quotas.Server(requests: 256 << 20, answers: 512 << 20, feeds: 256 << 20)
        #expect(configuration.quotas == quotas, "the quotas of addresses are the defaults")
    }

    @Test func aTokenOfTheFilesIssuerIsVerified() throws {
        // Given
        let configuration = try Self.read(Self.example)
        let keys = KeySet([try TokenSigner.es256.verificationKey()])
        let token = TokenSigner.es256.token(claims: TokenFixture.claims(["freshet_role": #""till""#]))
        // When
        let verified = try configuration.verifier.verify(configuration.verifier.read(token), by: keys, at: TokenFixture.now * 1_000)
        // Then
        #expect(verified.rights.decide(.write, in: try Namespace("shop"), of: .key(try RecordKey("carts/u7/1"))) == .allowed(grant: 1))
    }

    @Test(
        "an error names its byte",
        arguments: [
            (#""lisen":[]"#, 0), (#""hosts":["a"],"host":["b"]"#, 14), (#""hosts":["a"],  "hosts":["b"]"#, 16), (#""hosts":["a b"]"#, 9),
            (#""hosts":["a","a"]"#, 13), (#""hosts":"a""#, 8), (#""hosts":[7]"#, 9), (#""origins":["app"]"#, 11),
            (#""proxies": ["x"]"#, 12),
            (#""admin":{}"#, 8), (#""admin":{"socket":"a","address":"127.0.0.1:1"}"#, 8), (#""admin":{"address":"127.0.0.1:1"}"#, 8),
            (#""admin":{"socket":"\#(String(repeating: "a", count: 108))"}"#, 18),
            (#""roles":{"a b":[]}"#, 9), (#""roles":{"a":[{"ns":"shop","in":["c/{sub}*"],"may":["read"]}]}"#, 14),
            (#""anonymous":[{"ns":"shop","in":["c/{x y}"],"may":["reed"]}]"#, 50), (#""audit":"""#, 8), (#""audit":"a\u0000""#, 8),
            (#""auditRequired":true"#, 16), (#""auditRequired":"yes""#, 16),
            (#""quotas":{"adress":{}}"#, 10), (#""quotas":{"address":{"failures":"10"}}"#, 32),
            (#""quotas":{"address":{"connections":0}}"#, 35),
            (#""quotas":{"namespace":{"storage":"0B"}}"#, 33), (#""quotas":{"principal":{"bytes":"100/s"}}"#, 31),
            (#""quotas":{"server":{"feeds":5}}"#, 28),
        ])
    func errors(members: String, offset: Int) {
        let error = #expect(throws: TrustError.self) { try Self.read(Self.with(members)) }
        #expect(error?.offset == Self.before + offset, "\(error?.description ?? "none")")
    }

    @Test(
        "an issuer that breaks a rule is refused",
        arguments: [
            #"{"audience":"a","keys":{"file":"f"}}"#, #"{"issuer":"i","keys":{"file":"f"}}"#, #"{"issuer":"i","audience":"a"}"#,
            #"{"issuer":"i|j","audience":"a","keys":{"file":"f"}}"#, #"{"issuer":"i\n","audience":"a","keys":{"file":"f"}}"#,
            #"{"issuer":"i","audience":"a","keys":{}}"#, #"{"issuer":"i","audience":"a","keys":{"file":"f","url":"https://a"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"http://id.example.org/jwks"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"http://localhost.example.org"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"http://127.0.0.1@example.org"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"http://localhost:1@example.org"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"https://"}}"#, #"{"issuer":"i","audience":"a","keys":{"url":"https://a b"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"https://user@a"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"file:///etc/passwd"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"url":"https://a","algorithms":["HS256"]}}"#,
            #"{"issuer":"i","audience":"a","keys":{"secret":"f","algorithms":["RS256"]}}"#,
            #"{"issuer":"i","audience":"a","keys":{"file":"f","algorithms":["none"]}}"#,
            #"{"issuer":"i","audience":"a","keys":{"file":"f","algorithms":[]}}"#,
            #"{"issuer":"i","audience":"a","longest":"0s","keys":{"file":"f"}}"#,
            #"{"issuer":"i","audience":"a","longest":"31d","keys":{"file":"f"}}"#,
            #"{"issuer":"i","audience":"a","longest":3600,"keys":{"file":"f"}}"#,
            #"{"issuer":"i","audience":"a","keys":{"file":"f"}},{"issuer":"i","audience":"b","keys":{"file":"g"}}"#,
        ])
    func issuers(text: String) {
        #expect(throws: TrustError.self) { try Self.read(Self.with(#""issuers":[\#(text)]"#)) }
    }

    @Test func aDurationThatIsOutOfRangeIsRefusedWithTheRangeInItsUnits() {
        let issuer = #"{"issuer":"i","audience":"a","longest":"31d","keys":{"file":"f"}}"#
        let error = #expect(throws: TrustError.self) { try Self.read(Self.with(#""issuers":[\#(issuer)]"#)) }
        #expect(error?.description.hasSuffix("'31d' is out of range: it takes 1s to 30d") == true)
        #expect([0, 1, 1_500, 90_000, 5_400_000].map(Quantity.text) == ["0d", "1ms", "1500ms", "90s", "90m"])
    }

    @Test func anIssuersKeysHaveTheAlgorithmsOfTheirKind() throws {
        func algorithms(_ keys: String) throws -> Set<SignatureAlgorithm>? {
            try Self.read(Self.with(#""issuers":[{"issuer":"i","audience":"a","requireTokenID":true,"keys":\#(keys)}]"#)).issuers.first?
                .issuer.algorithms
        }
        #expect(try algorithms(#"{"url":"https://id.example.org:8443/jwks?x=1"}"#) == [.edDSA, .es256, .rs256])
        for url in ["http://localhost/jwks", "http://localhost:8080", "http://127.0.0.1", "http://[::1]:80/"] {
            #expect(try algorithms(#"{"url":"\#(url)"}"#) == [.edDSA, .es256, .rs256])
        }
        #expect(try algorithms(#"{"secret":"/run/secret"}"#) == [.hs256])
        #expect(try algorithms(#"{"file":"jwks.json"}"#) == Set(SignatureAlgorithm.allCases))
        #expect(try algorithms(#"{"algorithms":["EdDSA"],"file":"jwks.json"}"#) == [.edDSA])
    }

    @Test(
        "an address that is none is refused",
        arguments: [
            "", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "a b:1", "::1:80", "[::1]", "[:80", "[]:80",
            "[127.0.0.1]:80", "[::1/64]:80", "*:80", "http://a:80",
        ])
    func addresses(text: String) {
        #expect(throws: TrustError.self) { try Self.read(#"{"listen":[{"address":"\#(text)"}]}"#) }
    }

    @Test func listenersHaveNamesPortsAndCertificates() throws {
        // When
        let configuration = try Self.read(
            #"{"listen":[{"address":"[::1]:0"},{"address":"localhost:0"},{"address":"0.0.0.0:443","tls":[{"certificate":"a","key":"b"},{"certificate":"c","key":"d"}]}],"admin":{"address":"10.0.0.1:9","tls":{"certificate":"a","key":"b"}}}"#
        )
        // Then
        #expect(
            configuration.listeners.map(\.host) == ["::1", "localhost", "0.0.0.0"] && configuration.listeners.map(\.port) == [0, 0, 443])
        #expect(configuration.listeners[2].certificates.map(\.chain) == ["a", "c"])
        guard case .address(let admin) = configuration.admin else {
            Issue.record("no address")
            return
        }
        #expect(admin.host == "10.0.0.1" && admin.certificates.count == 1)
        for text in [
            #"{"address":"a:1"},{"address":"a:1"}"#, #"{"address":"a:1","tls":[]}"#, #"{"address":"a:1","tls":{"key":"b"}}"#,
            #"{"tls":{"certificate":"a","key":"b"}}"#, "{}",
        ] {
            #expect(throws: TrustError.self) { try Self.read(#"{"listen":[\#(text)]}"#) }
        }
    }

    @Test(
        "the role of client certificates is one that a name alone fills in, and the name is of one authority",
        arguments: [
            (#""clientAuthority":"c","clientRole":"till""#, ""), (#""clientRole":"till""#, "'clientAuthority' beside it"),
            (#""clientAuthority":"c","clientRole":"none""#, "'roles' does not have"),
            (#""clientAuthority":"c","clientRole":"shops""#, "has only {sub}"),
            (#""clientAuthority":"d","clientRole":"till""#, "one 'clientAuthority'"),
        ])
    func clientRoles(members: String, error: String) {
        func listener(_ port: Int, _ members: String) -> String {
            #"{"address":"127.0.0.1:\#(port)","tls":{"certificate":"a","key":"b"},\#(members)}"#
        }
        // Given
        let roles = #"{"till":[{"ns":"s","in":["c/{sub}"],"may":["read"]}],"shops":[{"ns":"s","in":["c/{claim:shop}"],"may":["read"]}]}"#
        let listeners = [listener(1, #""clientAuthority":"c","clientRole":"till""#), listener(2, members)]
        // When
        var found = ""
        do { _ = try Self.read(#"{"listen":[\#(listeners.joined(separator: ","))],"roles":\#(roles)}"#) } catch {
            found = error.description
        }
        // Then
        #expect(error.isEmpty ? found.isEmpty : found.contains(error), "\(found)")
    }

    @Test(
        "a file that is no object with a listener is refused",
        arguments: ["", "[]", "{}", #"{"listen":[]}"#, "{\"listen\":[{\"address\":\"a:1\"}]}x", "\u{FEFF}{}", "// {}"])
    func files(text: String) {
        #expect(throws: TrustError.self) { try Self.read(text) }
    }

    @Test func aFileIsBounded() {
        let large = Self.with(#""hosts":[]"#) + String(repeating: " ", count: Configuration.maximumBytes)
        #expect(throws: TrustError.self) { try Self.read(large) }
        let many = (0..<300).map { #""h\#($0)""# }.joined(separator: ",")
        #expect(throws: TrustError.self) { try Self.read(Self.with(#""hosts":[\#(many)]"#)) }
        let roles = (0..<1_025).map { #""r\#($0)":[]"# }.joined(separator: ",")
        #expect(throws: TrustError.self) { try Self.read(Self.with(#""roles":{\#(roles)}"#)) }
        #expect(throws: TrustError.self) { try Self.read(Self.with(#""quotas":"# + String(repeating: #"{"address":"#, count: 10_000))) }
    }

    @Test func anErrorStatesTheRemedy() {
        let error = #expect(throws: TrustError.self) { try Self.read(#"{"lisen":[]}"#) }
        #expect(
            error?.description
                == "at byte 1: 'lisen' is unknown here, which takes listen, admin, hosts, origins, proxies, issuers, roles, anonymous, quotas, audit and auditRequired"
        )
        #expect(throws: TrustError.invalidValue(offset: 0, #"there is no listener: add "listen": [{"address": "127.0.0.1:8180"}]"#)) {
            try Self.read("{}")
        }
    }

    @Test(
        "quantities have a number and a unit",
        arguments: [
            ("500ms", 500 as Int64?, nil as Int64?), ("30s", 30_000, nil), ("10m", 600_000, nil), ("24h", 86_400_000, nil),
            ("7d", 604_800_000, nil), ("0s", 0, nil),
            ("512B", nil, 512), ("64KiB", nil, 65_536), ("4MiB", nil, 4 << 20), ("10GiB", nil, 10 << 30), ("2TiB", nil, 2 << 40),
            ("", nil, nil), ("5", nil, nil), ("s", nil, nil), ("-5s", nil, nil), ("+5s", nil, nil), ("05s", nil, nil), ("5 s", nil, nil),
            ("1.5h", nil, nil), ("5S", nil, nil),
            ("4MB", nil, nil), ("9223372036854775807d", nil, nil), ("99999999999999999999s", nil, nil), ("8388608TiB", nil, nil),
            ("5s\u{301}", nil, nil), ("٥s", nil, nil),
        ])
    func quantities(text: String, duration: Int64?, size: Int64?) {
        #expect(Quantity.duration(text) == duration && Quantity.size(text) == size)
    }

    @Test func rates() {
        #expect(
            Quantity.rate("20/s", isSize: false) == Rate(20, per: 1_000) && Quantity.rate("10/m", isSize: false) == Rate(10, per: 60_000))
        #expect(
            Quantity.rate("100/h", isSize: false) == Rate(100, per: 3_600_000)
                && Quantity.rate("4MiB/s", isSize: true) == Rate(4 << 20, per: 1_000))
        for text in ["20", "/s", "20/", "20/d", "0/s", "20/s/s", "-1/s", "4MiB/s", "20/S", "1099511627776/s"] {
            #expect(Quantity.rate(text, isSize: false) == nil)
        }
        #expect(Quantity.rate("20/s", isSize: true) == nil)
    }
}
