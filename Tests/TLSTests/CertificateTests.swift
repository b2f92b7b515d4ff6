import CFreshetTLS
import Foundation
import FreshetTestSupport
import Glibc
import Testing

@testable import FreshetTLS

/// Files of certificates: refusals with their advice, and the certificate that each client gets.
@Suite(.timeLimit(.minutes(5)))
struct CertificateTests {
    private func error(_ settings: TLSSettings, now: Int64 = .now) -> TLSError? {
        do throws(TLSError) { _ = try TLSContext(settings, now: now) } catch { return error }
        return nil
    }

    @Test func filesThatCannotServeAreRefusedWithAdvice() async throws {
        let authority = try await TestAuthority()
        let (one, other) = (try await authority.issue("one"), try await authority.issue("other"))
        // Given each mistake; Then the error names it, and says what to do
        #expect(error(.init(certificates: [])) == .noCertificates)
        let cases: [(chain: String, key: String, error: TLSError, advice: String)] = [
            ("/none.pem", one.key, .unreadable(path: "/none.pem", reason: "No such file or directory"), "may read"),
            (one.chain, "/none.pem", .unreadable(path: "/none.pem", reason: "No such file or directory"), "may read"),
            ("/tmp", one.key, .unreadable(path: "/tmp", reason: "Is a directory"), "may read"),
            (one.key, one.key, .noCertificate(path: one.key), "followed by those that signed it"),
            (one.chain, one.chain, .noKey(path: one.chain), "certificate's key"),
            ("/dev/null", one.key, .noCertificate(path: "/dev/null"), "PEM"),
            (one.chain, other.key, .keyMismatch(certificate: one.chain, key: other.key), "is not the key of"),
        ]
        for (chain, key, expected, advice) in cases {
            let error = error(.init(certificates: [.init(chain: chain, key: key)]))
            #expect(error == expected)
            #expect(error?.description.contains(advice) == true, "\(String(describing: error))")
        }
        let encrypted = try await authority.encrypt(one.key)
        #expect(error(.init(certificates: [.init(chain: one.chain, key: encrypted)])) == .encryptedKey(path: encrypted))
        let weak = try await authority.issue("weak", .weak)
        guard case .refused(weak.chain, "ee key too small") = error(weak.settings) else {
            Issue.record("\(String(describing: error(weak.settings)))")
            return
        }
    }

    @Test func aChainWithADamagedCertificateIsRefused() async throws {
        // Given a chain whose second certificate is cut off, or has a wrong byte
        let authority = try await TestAuthority()
        let one = try await authority.issue("one")
        let leaf = try String(contentsOfFile: one.chain, encoding: .utf8)
        let signer = try String(contentsOfFile: authority.certificate, encoding: .utf8)
        var lines = signer.split(separator: "\n").map(String.init)
        lines[2] = "!" + lines[2].dropFirst()
        for damaged in [String(signer.prefix(200)), lines.joined(separator: "\n") + "\n"] {
            authority.write(Array((leaf + damaged).utf8), to: "damaged.pem")
            let path = authority.file("damaged.pem")
            // Then it is refused: clients would miss that certificate
            guard case .damaged(path, _) = error(.init(certificates: [.init(chain: path, key: one.key)])) else {
                Issue.record("\(String(describing: error(.init(certificates: [.init(chain: path, key: one.key)]))))")
                continue
            }
        }
        // And a whole chain, with other text around it, is not
        authority.write(Array(("# one\n" + leaf + "# its signer\n" + signer + "# end\n").utf8), to: "whole.pem")
        #expect(error(.init(certificates: [.init(chain: authority.file("whole.pem"), key: one.key)])) == nil)
    }

    @Test func theFirstMistakeOfSeveralCertificatesIsReported() async throws {
        let authority = try await TestAuthority()
        let (one, other) = (try await authority.issue("one"), try await authority.issue("other"))
        let settings = TLSSettings(certificates: [
            .init(chain: one.chain, key: one.key), .init(chain: other.chain, key: one.key), .init(chain: "/none", key: "/none"),
        ])
        #expect(error(settings) == .keyMismatch(certificate: other.chain, key: one.key))
    }

    @Test func aCertificateOutsideOfItsTimeIsRefused() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue("server")
        let end = try TLSContext(identity.settings, now: .now).end
        #expect((19 * 86_400...20 * 86_400).contains(end - .now))
        #expect(error(identity.settings, now: end - 1) == nil)
        #expect(error(identity.settings, now: end) == .expired(path: identity.chain, end: end))
        guard case .notYetValid(identity.chain, _) = error(identity.settings, now: 0) else {
            Issue.record("a certificate of the future was taken")
            return
        }
    }

    @Test func aClientGetsTheCertificateForTheNameThatItAsksFor() async throws {
        // Given three certificates
        let authority = try await TestAuthority()
        let names = [("a", "DNS:a.example"), ("b", "DNS:b.example,DNS:*.b.example"), ("c", "DNS:c.example,DNS:a.example")]
        var certificates: [CertificateFiles] = []
        for (name, alternatives) in names {
            let identity = try await authority.issue(name, for: alternatives)
            certificates.append(CertificateFiles(chain: identity.chain, key: identity.key))
        }
        let context = try TLSContext(TLSSettings(certificates: certificates), now: .now)
        // When clients ask for a name, in both versions; Then each gets the first certificate for it
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            let cases = [
                ("a.example", "a"), ("B.Example", "b"), ("x.b.example", "b"), ("c.example", "c"),
            ]
            for (asked, expected) in cases {
                let server = try MemoryServer(context)
                let client = try MemoryClient(trusting: authority.certificate, .init(name: asked, versions: version...version))
                server.connect(client)
                #expect(client.failure == nil && client.serverName == expected, "\(asked)")
            }
            // And a client that asks for none, or another, gets the first of all, which the latter refuses
            let (server, other) = (try MemoryServer(context), try MemoryServer(context))
            let nameless = try MemoryClient(trusting: authority.certificate, .init(versions: version...version))
            server.connect(nameless)
            #expect(nameless.failure == nil && nameless.serverName == "a")
            let stranger = try MemoryClient(trusting: authority.certificate, .init(name: "x.y.b.example", versions: version...version))
            other.connect(stranger)
            #expect(stranger.failure == "certificate verify failed")
        }
    }

    @Test(arguments: TestAuthority.KeyKind.allCases.filter { $0 != .weak }) func eachKindOfKeyServes(kind: TestAuthority.KeyKind)
        async throws
    {
        let authority = try await TestAuthority()
        let context = try TLSContext(try await authority.issue("server", kind).settings, now: .now)
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            let server = try MemoryServer(context)
            let client = try MemoryClient(trusting: authority.certificate, .init(name: "localhost", versions: version...version))
            server.connect(client)
            #expect(!server.isHandshaking && client.failure == nil)
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION]) func clientsNeedACertificateIfThatIsDemanded(version: Int32) async throws {
        // Given a server that demands certificates of an authority, and another authority
        let (authority, stranger) = (try await TestAuthority(), try await TestAuthority())
        var settings = try await authority.issue("server").settings
        settings.clientAuthority = authority.certificate
        let context = try TLSContext(settings, now: .now)
        func served(_ identity: TestAuthority.Identity?) throws -> Bool {
            let server = try MemoryServer(context)
            let client = try MemoryClient(
                trusting: authority.certificate, .init(versions: version...version, identity: identity.map { ($0.chain, $0.key) }))
            server.connect(client)
            #expect(server.isHandshaking == (server.end != nil))
            return !server.isHandshaking
        }
        // Then clients with such a certificate are served, and no others
        #expect(try served(try await authority.issue("device")))
        #expect(try !served(try await stranger.issue("device")))
        #expect(try !served(nil))
        // And a file without certificates is an error
        for path in ["/none", "/dev/null"] {
            settings.clientAuthority = path
            #expect(error(settings)?.description.contains(path) == true)
        }
    }

    @Test func aReloadExchangesTheCertificatesOrNothing() async throws {
        // Given a server, and a connection
        let authority = try await TestAuthority()
        let first = try await authority.issue("first")
        let server = try TLSServer(first.settings, now: 0, wall: .now)
        let end = server.certificateEnd
        // When its files are exchanged for those of another certificate
        let second = try await authority.issue("second")
        try copy(second.chain, to: first.chain)
        // Then a key that does not match is refused, and all stays as it was
        #expect(throws: TLSError.keyMismatch(certificate: first.chain, key: first.key)) { try server.reload(now: 1, wall: .now) }
        #expect(try name(of: server, authority) == "first" && server.certificateEnd == end)
        // And with its key the new certificate is presented
        try copy(second.key, to: first.key)
        try server.reload(now: 2, wall: .now)
        #expect(try name(of: server, authority) == "second")
    }

    @Test func theKeysOfTicketsLastADay() async throws {
        let authority = try await TestAuthority()
        let server = try TLSServer(try await authority.issue("server").settings, now: 0, wall: .now)
        func connect(_ ticket: OpaquePointer?) throws -> MemoryClient {
            let session = try MemoryServer(#require(server.makeLayer() as? TLSSession))
            let client = try MemoryClient(trusting: authority.certificate, .init(ticket: ticket))
            session.connect(client)
            return client
        }
        let client = try connect(nil)
        // When less than a day has passed, tickets are good; after a day they are not
        #expect(server.timePassed(now: TLSServer.keyLifetime - 1, wall: .now) == nil)
        let second = try connect(client.ticket)
        #expect(second.isResumed)
        #expect(server.timePassed(now: TLSServer.keyLifetime, wall: .now) == nil)
        #expect(try !connect(second.ticket).isResumed)
    }

    @Test func aNewAuthorityOfClientsIsUsedAfterAReloadOnly() async throws {
        // Given a server with two certificates that demands certificates of an authority, and another authority
        let (authority, stranger) = (try await TestAuthority(), try await TestAuthority())
        let (device, other) = (try await authority.issue("device"), try await stranger.issue("device"))
        var certificates: [CertificateFiles] = []
        for (name, alternative) in [("a", "DNS:a.example"), ("b", "DNS:b.example")] {
            certificates += try await authority.issue(name, for: alternative).settings.certificates
        }
        let path = authority.file("clients.pem")
        authority.write(Array(try String(contentsOfFile: authority.certificate, encoding: .utf8).utf8), to: "clients.pem")
        let server = try TLSServer(TLSSettings(certificates: certificates, clientAuthority: path), now: 0, wall: .now)
        func served(_ identity: TestAuthority.Identity) throws -> Bool {
            let hosts = try ["a.example", "b.example"].map { host in
                let session = try MemoryServer(#require(server.makeLayer() as? TLSSession))
                session.connect(
                    try MemoryClient(trusting: authority.certificate, .init(name: host, identity: (identity.chain, identity.key))))
                return !session.isHandshaking
            }
            #expect(hosts[0] == hosts[1])
            return hosts[0]
        }
        // When the file is exchanged, or gone, and a day passes; Then the former authority stays in force
        let changes = [Array(try String(contentsOfFile: stranger.certificate, encoding: .utf8).utf8), []]
        for (day, change) in zip(Int64(1)..., changes) {
            authority.write(change, to: "clients.pem")
            #expect(server.timePassed(now: day * TLSServer.keyLifetime, wall: .now) == nil)
            let (formerIsServed, newIsServed) = (try served(device), try served(other))
            #expect(formerIsServed && !newIsServed)
        }
        // And after a reload the new one is
        authority.write(Array(try String(contentsOfFile: stranger.certificate, encoding: .utf8).utf8), to: "clients.pem")
        try server.reload(now: 3 * TLSServer.keyLifetime, wall: .now)
        let (formerIsServed, newIsServed) = (try served(device), try served(other))
        #expect(!formerIsServed && newIsServed)
    }

    @Test func aCertificateThatEndsSoonIsReportedOnceADay() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue("server")
        let server = try TLSServer(identity.settings, now: 0, wall: .now)
        let soon = server.certificateEnd - TLSServer.warningPeriod + 1
        #expect(server.timePassed(now: 1, wall: soon - 2) == nil)
        #expect(server.timePassed(now: 2, wall: soon)?.contains("\(identity.chain) expires in 13 days: renew it") == true)
        #expect(server.timePassed(now: 3, wall: soon) == nil)
        #expect(server.timePassed(now: 86_400_002, wall: soon + 86_400)?.contains("in 12 days") == true)
        #expect(server.timePassed(now: 172_800_002, wall: server.certificateEnd)?.contains("has expired") == true)
    }

    private func name(of server: TLSServer, _ authority: TestAuthority) throws -> String? {
        let session = try MemoryServer(#require(server.makeLayer() as? TLSSession))
        let client = try MemoryClient(trusting: authority.certificate)
        session.connect(client)
        return client.serverName
    }

    private func copy(_ source: String, to target: String) throws {
        let directory = String(target[..<(try #require(target.lastIndex(of: "/")))])
        try #require(rename(source, "\(directory)/moved") == 0 && rename("\(directory)/moved", target) == 0)
    }
}
