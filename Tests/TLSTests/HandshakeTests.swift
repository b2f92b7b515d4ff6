import FreshetPlatform
import FreshetSocketHTTP
import FreshetTestSupport
import HTTPTypes
import Logging
import Testing

@testable import FreshetTLS

/// Handshakes over sockets: their number, their rate, and the certificates that they show.
@Suite(.timeLimit(.minutes(5)))
struct HandshakeTests {
    /// A server that answers `GET /ok`, with a certificate of a new authority.
    private struct Fixture: Sendable {
        let authority: TestAuthority
        let identity: TestAuthority.Identity
        let tls: TLSServer
        let server: HTTPServer
        let port: Int

        init(_ configure: (inout Limits) -> Void = { _ in }) async throws {
            authority = try await TestAuthority()
            identity = try await authority.issue("first")
            tls = try TLSServer(identity.settings, now: 0, wall: .now)
            var limits = Limits(headerTimeout: .seconds(120), idleTimeout: .seconds(300))
            configure(&limits)
            var configuration = HTTPServerConfiguration(limits: limits)
            configuration.layers = tls
            var router = Router()
            router.on(.get, "/ok") { _, exchange in exchange.respond(Response(status: .ok, body: Array("ok".utf8))) }
            server = HTTPServer(
                configuration: configuration, router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            port = try server.start().port
        }

        func client() throws -> SocketClient { try SocketClient(port: port, trusting: authority.certificate) }
    }

    @Test func aThousandConnectionsGoOnAcrossAReload() async throws {
        // Given a thousand connections, each of which has had an answer
        DescriptorLimit.raise()
        let fixture = try await Fixture()
        let second = try await fixture.authority.issue("second")
        let lost = try await Sockets.onThread {
            let clients = try (0..<1_000).map { _ in try fixture.client() }
            var lost = clients.count { !$0.connect() || $0.get("/ok") != "HTTP/1.1 200 OK" }
            // When the certificate is exchanged
            try fixture.authority.replace(fixture.identity, with: second)
            try fixture.tls.reload(now: 1, wall: .now)
            let next = try fixture.client()
            #expect(next.connect() && next.client.serverName == "second" && next.get("/ok") == "HTTP/1.1 200 OK")
            // Then each gets another answer on its connection, which has the former one
            lost += clients.count { $0.client.serverName != "first" || $0.get("/ok") != "HTTP/1.1 200 OK" }
            return lost
        }
        #expect(lost == 0)
        let statistics = fixture.server.statistics()
        #expect(statistics.handshakes == 1_001 && statistics.failedHandshakes == 0 && statistics.connectionsAccepted == 1_001)
        #expect(statistics.requests == 2_001 && statistics.handshakesRefused == 0)
        await fixture.server.drain()
    }

    @Test func anAddressHasARateOfHandshakesAndATrustedProxyHasNone() async throws {
        for isProxy in [false, true] {
            let fixture = try await Fixture { limits in
                // A period within which the test ends.
                (limits.handshakesPerAddress, limits.handshakePeriod) = (5, .seconds(36_000))
                if !isProxy { limits.trustedProxies = [] }
            }
            // When an address begins eight
            let results = try await Sockets.onThread { try (0..<8).map { _ in try fixture.client().connect() } }
            // Then those beyond the rate are closed at their first bytes
            #expect(results == [true, true, true, true, true, isProxy, isProxy, isProxy])
            #expect(fixture.server.statistics().handshakesRefused == (isProxy ? 0 : 3))
            await fixture.server.drain()
        }
    }

    @Test func aHandshakeThatStopsIsClosedByTheTimeOutOfAHead() async throws {
        let fixture = try await Fixture { $0.headerTimeout = .milliseconds(100) }
        #expect(try await Sockets.onThread { try fixture.client().stall() })
        #expect(fixture.server.statistics().handshakes == 0)
        await fixture.server.drain()
    }
}
