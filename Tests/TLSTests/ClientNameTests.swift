import CFreshetTLS
import Foundation
import FreshetSocketHTTP
import FreshetTestSupport
import Testing

@testable import FreshetTLS

@Suite("The names of clients' certificates", .timeLimit(.minutes(5)), .enabled(if: TestAuthority.isAvailable, "openssl is not in the PATH"))
struct ClientNameTests {
    /// The certificate that a server sees, and the client's connection.
    private static func connect(
        _ context: TLSContext, _ authority: TestAuthority, _ options: MemoryClient.Options
    ) throws -> (ClientCertificate?, MemoryClient) {
        let session = try #require(TLSSession(context))
        let server = MemoryServer(session)
        let client = try MemoryClient(trusting: authority.certificate, options)
        server.connect(client)
        #expect(!session.isHandshaking && client.failure == nil)
        return (session.clientCertificate, client)
    }

    @Test("one URI, else one mail address, else one DNS name; nothing that could be read in two ways")
    func names() async throws {
        // Given
        let authority = try await TestAuthority()
        var settings = try await authority.issue("server").settings
        settings.clientAuthority = authority.certificate
        let context = try TLSContext(settings, now: .now)
        let long = String(repeating: "a", count: 60)
        let cases: [(alternatives: String, name: String?)] = [
            ("DNS:Till-7.Example", "till-7.example"), ("email:ann@example.org", "ann@example.org"),
            ("URI:spiffe://example/till", "spiffe://example/till"), ("IP:127.0.0.1", nil),
            ("DNS:a,DNS:b", nil), ("DNS:a,IP:127.0.0.1", "a"), ("DNS:a,DNS:b,email:ann@example.org", "ann@example.org"),
            ("DNS:a,URI:urn:x:1,email:ann@example.org", "urn:x:1"), ("URI:urn:x:1,URI:urn:x:2", nil),
            ("DNS:*.example.org", nil), ("URI:urn:a|b", nil), ("URI:urn:\(long)\(long)\(long)", nil), ("URI:none", nil), ("DNS:a@b", nil),
            ("URI:a/b", nil),
        ]
        for (number, (alternatives, name)) in cases.enumerated() {
            // When
            let device = try await authority.issue("device-\(number)", for: alternatives)
            let (certificate, _) = try Self.connect(context, authority, .init(identity: (device.chain, device.key)))
            // Then
            #expect(try #require(certificate).name == name, "\(alternatives)")
        }
    }

    @Test("a resumed session has the certificate of its first handshake", arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func resumption(version: Int32) async throws {
        // Given
        let authority = try await TestAuthority()
        var settings = try await authority.issue("server").settings
        settings.clientAuthority = authority.certificate
        let context = try TLSContext(settings, now: .now)
        let device = try await authority.issue("device", for: "DNS:till-7.example")
        let identity = (device.chain, device.key)
        let (first, client) = try Self.connect(context, authority, .init(versions: version...version, identity: identity))
        // When
        let (second, resumed) = try Self.connect(
            context, authority, .init(versions: version...version, identity: identity, ticket: client.ticket))
        // Then
        #expect(resumed.isResumed)
        let certificate = try #require(second)
        #expect(certificate == first && certificate.name == "till-7.example")
        // OpenSSL reads the clock for each end.
        #expect((0...1_000).contains(certificate.validUntil - certificate.validFrom - 20 * 86_400_000))
        // And without a demand there is none
        let open = try TLSContext(try await authority.issue("open").settings, now: .now)
        #expect(try Self.connect(open, authority, .init(identity: identity)).0 == nil)
    }

    @Test("certificates of more than 32 KiB together are refused", arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func longChain(version: Int32) async throws {
        // Given a certificate, with that of its authority behind it a few times, or many times
        let authority = try await TestAuthority()
        var settings = try await authority.issue("server").settings
        settings.clientAuthority = authority.certificate
        let context = try TLSContext(settings, now: .now)
        let device = try await authority.issue("device", for: "DNS:a")
        let identity = (authority.file("chain.pem"), device.key)
        let leaf = try String(contentsOfFile: device.chain, encoding: .utf8)
        let signer = try String(contentsOfFile: authority.certificate, encoding: .utf8)
        for (count, isAccepted) in [(10, true), (150, false)] {
            authority.write(Array((leaf + String(repeating: signer, count: count)).utf8), to: "chain.pem")
            let server = try MemoryServer(context)
            let end: ByteLayerInput.End? = isAccepted ? nil : .failed("excessive message size")
            // When
            server.connect(try MemoryClient(trusting: authority.certificate, .init(versions: version...version, identity: identity)))
            // Then
            #expect(server.end == end && server.isHandshaking == !isAccepted)
        }
    }

    @Test("after a reload a certificate of a former authority is outdated, and one of both authorities is the new one's")
    func reload() async throws {
        // Given a connection of each of two authorities, whose certificates are in one file
        let (kept, withdrawn) = (try await TestAuthority(), try await TestAuthority())
        let both = try [kept, withdrawn].map { try String(contentsOfFile: $0.certificate, encoding: .utf8) }.joined()
        var settings = try await kept.issue("server").settings
        settings.clientAuthority = kept.file("clients.pem")
        kept.write(Array(both.utf8), to: "clients.pem")
        let server = try TLSServer(settings, now: 0, wall: .now)
        var sessions: [TLSSession] = []
        for authority in [kept, withdrawn] {
            let device = try await authority.issue("device", for: "DNS:a")
            let session = try #require(server.makeLayer() as? TLSSession)
            MemoryServer(session).connect(try MemoryClient(trusting: kept.certificate, .init(identity: (device.chain, device.key))))
            sessions.append(session)
        }
        let first = try #require(server.authority)
        func expect(_ authorities: [String?], outdated: [Bool]) {
            #expect(sessions.map { $0.clientCertificate?.authority } == authorities && sessions.map(\.isOutdated) == outdated)
        }
        expect([first, first], outdated: [false, false])
        // When a day passes, or the files are read again; Then nothing is judged again, which resumed sessions might fail
        #expect(server.timePassed(now: TLSServer.keyLifetime, wall: .now) == nil)
        try server.reload(now: 1, wall: .now)
        expect([first, first], outdated: [false, false])
        // When one is withdrawn
        settings.clientAuthority = kept.certificate
        server.take(try server.prepare(settings, wall: .now), now: 2)
        let second = try #require(server.authority)
        #expect(second != first)
        expect([second, first], outdated: [false, true])
        // When certificates are not demanded any more
        settings.clientAuthority = nil
        server.take(try server.prepare(settings, wall: .now), now: 3)
        #expect(server.authority == nil)
        expect([second, first], outdated: [true, true])
    }
}
