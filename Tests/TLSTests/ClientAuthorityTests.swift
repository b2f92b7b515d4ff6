import Foundation
import FreshetSocketHTTP
import FreshetTestSupport
import HTTPTypes
import Logging
import Testing

@testable import FreshetTLS

/// Connections whose client authority is withdrawn while they are open.
@Suite("Withdrawn client authorities", .timeLimit(.minutes(5)), .enabled(if: TestAuthority.isAvailable, "openssl is not in the PATH"))
struct ClientAuthorityTests {
    private final class Repeated: RepeatedRequestHandler {
        func handle(_ value: Span<UInt8>, _ exchange: Exchange) {
            exchange.respond(Response(status: .ok, body: Array("repeated".utf8)))
        }
    }

    /// Starts a server whose `GET /poll` may be repeated with another `n`.
    private static func start(_ layers: TLSServer) throws -> (server: HTTPServer, port: Int) {
        var configuration = HTTPServerConfiguration(limits: Limits(headerTimeout: .seconds(120), idleTimeout: .seconds(300)))
        configuration.layers = layers
        var router = Router()
        router.on(.get, "/poll") { request, exchange in
            request.onRepeat(varying: "n", Repeated())
            exchange.respond(Response(status: .ok, body: Array("routed".utf8)))
        }
        let server = HTTPServer(
            configuration: configuration, router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return (server, try server.start().port)
    }

    @Test("a connection that only repeats its request is closed after the next one, and that of another authority is not")
    func repetition() async throws {
        // Given a client of each of two authorities
        let (kept, withdrawn) = (try await TestAuthority(), try await TestAuthority())
        let both = try [kept, withdrawn].map { try String(contentsOfFile: $0.certificate, encoding: .utf8) }.joined()
        kept.write(Array(both.utf8), to: "clients.pem")
        var settings = try await kept.issue("server").settings
        settings.clientAuthority = kept.file("clients.pem")
        let tls = try TLSServer(settings, now: 0, wall: .now)
        settings.clientAuthority = kept.certificate
        let prepared = try tls.prepare(settings, wall: .now)
        let devices = [try await kept.issue("device"), try await withdrawn.issue("device")]
        let (server, port) = try Self.start(tls)
        let statuses = try await Sockets.onThread {
            let clients = try devices.map { device in
                try SocketClient(port: port, trusting: kept.certificate, .init(identity: (device.chain, device.key)))
            }
            for client in clients where !client.connect() { throw MemoryClient.SetupFailure() }
            var statuses: [[String]] = []
            for number in 1...4 {
                // When one authority is withdrawn after the first repetition
                if number == 3 { tls.take(prepared, now: 1) }
                statuses.append(clients.map { $0.get("/poll?n=\(number)") })
            }
            return statuses
        }
        // Then its client gets one more response, which was routed, and the other one goes on with repetitions
        let ok = "HTTP/1.1 200 OK"
        #expect(statuses == [[ok, ok], [ok, ok], [ok, ok], [ok, ""]])
        let statistics = server.statistics()
        #expect(statistics.requests == 7 && statistics.requestsRecognised == 4)
        await server.drain()
        withExtendedLifetime((kept, withdrawn)) {}
    }
}
