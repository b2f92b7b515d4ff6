import CFreshetTLS
import FreshetSocketHTTP
import FreshetTestSupport
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import FreshetTLS

/// Encrypted connections whose clients end their direction in order, by TCP alone, or within a record.
@Suite("Ends of encrypted connections", .timeLimit(.minutes(5)))
struct ConnectionEndTests {
    /// What the handlers of the server have received.
    private final class Requests: Sendable {
        let waiting = Mutex<[Exchange]>([])
        let bodies = Mutex<[[UInt8]]>([])
    }

    /// A server that keeps `GET /wait` until its client is gone, and notes the bodies of `POST /body`.
    private struct Fixture: Sendable {
        let authority: TestAuthority
        let requests = Requests()
        let server: HTTPServer
        let port: Int

        init() async throws {
            authority = try await TestAuthority()
            var configuration = HTTPServerConfiguration(limits: Limits(headerTimeout: .seconds(120), idleTimeout: .seconds(300)))
            configuration.layers = try TLSServer(try await authority.issue("first").settings, now: 0, wall: .now)
            var router = Router()
            let requests = requests
            router.on(.get, "/wait") { _, exchange in
                exchange.onDisconnect { exchange.respond(Response(status: .noContent)) }
                requests.waiting.withLock { $0.append(exchange) }
            }
            router.on(.get, "/ok") { _, exchange in exchange.respond(Response(status: .ok, body: Array("ok".utf8))) }
            router.on(.post, "/body") { request, exchange in
                requests.bodies.withLock { $0.append(request.body) }
                exchange.respond(Response(status: .ok, body: Array("taken".utf8)))
            }
            server = HTTPServer(
                configuration: configuration, router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            port = try server.start().port
        }

        /// A client that has had an answer.
        func client(_ version: Int32) throws -> SocketClient {
            let client = try SocketClient(port: port, trusting: authority.certificate, .init(versions: version...version))
            guard client.connect(), client.get("/ok") == "HTTP/1.1 200 OK" else { throw MemoryClient.SetupFailure() }
            return client
        }
    }

    private static let wait = Array("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    @Test(
        "A client that ends its direction while its request waits gets the answer and the end; the others still wait",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [true, false])
    func halfClosed(version: Int32, sendsNotice: Bool) async throws {
        let fixture = try await Fixture()
        let (ended, isClosed, isAnswered, other) = try await Sockets.onThread {
            // Given two clients whose requests wait
            let clients = try [fixture.client(version), fixture.client(version)]
            for (number, client) in clients.enumerated() {
                client.sendRaw(client.client.send(Self.wait))
                // A third one's request shows that the server has handled it.
                while fixture.requests.waiting.withLock({ $0.count }) <= number { _ = try fixture.client(version) }
            }
            let before = clients[0].client.received.count
            // When one ends its direction
            if sendsNotice { clients[0].sendRaw(clients[0].client.close()) }
            clients[0].finish()
            let ended = String(decoding: clients[0].readToEnd().utf8.dropFirst(before), as: UTF8.self)
            // And the other is answered later
            let exchange = fixture.requests.waiting.withLock { $0[1] }
            let isAnswered = exchange.respond(Response(status: .ok, body: Array("late".utf8)))
            clients[1].finish()
            return (ended, clients[0].client.isClosed, isAnswered, clients[1].readToEnd())
        }
        // Then its answer is complete and authentic, and the other's is its own
        #expect(ended.hasPrefix("HTTP/1.1 204 No Content\r\n") && ended.hasSuffix("\r\n\r\n"))
        #expect(isClosed && isAnswered)
        #expect(other.hasSuffix("late"))
        await fixture.server.drain()
    }

    /// Where a client's bytes end.
    enum Cut: CaseIterable, Sendable {
        case betweenRecords, withinRecord, never
    }

    @Test(
        "A request that was cut short is not handled, wherever its bytes end", arguments: [TLS1_2_VERSION, TLS1_3_VERSION], Cut.allCases)
    func truncated(version: Int32, cut: Cut) async throws {
        let fixture = try await Fixture()
        let text = try await Sockets.onThread {
            // Given a request whose body comes in two records
            let client = try fixture.client(version)
            let before = client.client.received.count
            let head = "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n01234"
            client.sendRaw(client.client.send(Array(head.utf8)))
            let rest = client.client.send(Array("56789".utf8))
            // When TCP ends without a notice of TLS
            switch cut {
            case .betweenRecords: break
            case .withinRecord: client.sendRaw(rest.dropLast())
            case .never: client.sendRaw(rest)
            }
            client.finish()
            return String(decoding: client.readToEnd().utf8.dropFirst(before), as: UTF8.self)
        }
        // Then only the whole request has an effect
        let bodies = fixture.requests.bodies.withLock { $0 }
        #expect(bodies == (cut == .never ? [Array("0123456789".utf8)] : []))
        #expect(text.hasPrefix("HTTP/1.1 \(cut == .never ? 200 : 400) "))
        #expect(text.hasSuffix("taken") == (cut == .never))
        await fixture.server.drain()
    }
}
