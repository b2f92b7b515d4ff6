import Foundation
import FreshetSocketHTTP
import FreshetTestSupport
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import FreshetTLS

/// Connections whose client authority is withdrawn while they are open.
@Suite("Withdrawn client authorities", .timeLimit(.minutes(5)), .enabled(if: TestAuthority.isAvailable, "openssl is not in the PATH"))
struct ClientAuthorityTests {
    private final class Repeated: RepeatedRequestHandler {
        func handle(_ value: Span<UInt8>, _ exchange: Exchange) { exchange.respond(.text("repeated")) }
    }

    /// Withdraws the authority when it is called, and leaves the request unanswered.
    private final class Waits: RepeatedRequestHandler {
        private let withdraw: @Sendable () -> Void
        private let exchanges = Mutex<[Exchange]>([])

        init(_ withdraw: @escaping @Sendable () -> Void) { self.withdraw = withdraw }

        func handle(_ value: Span<UInt8>, _ exchange: Exchange) { wait(exchange) }

        func wait(_ exchange: Exchange) {
            withdraw()
            exchanges.withLock { $0.append(exchange) }
        }

        func stop() { exchanges.withLock { $0 = [] } }
    }

    /// A server with two authorities of clients, of which the second can be withdrawn.
    private struct Fixture: Sendable {
        let authorities: [TestAuthority]
        /// A client's certificate of each.
        let devices: [TestAuthority.Identity]
        let withdraw: @Sendable () -> Void
        let waits: Waits
        let server: HTTPServer
        let port: Int

        init() async throws {
            let (kept, withdrawn) = (try await TestAuthority(), try await TestAuthority())
            let both = try [kept, withdrawn].map { try String(contentsOfFile: $0.certificate, encoding: .utf8) }.joined()
            kept.write(Array(both.utf8), to: "clients.pem")
            var settings = try await kept.issue("server").settings
            settings.clientAuthority = kept.file("clients.pem")
            let tls = try TLSServer(settings, now: 0, wall: .now)
            settings.clientAuthority = kept.certificate
            let prepared = try tls.prepare(settings, wall: .now)
            let withdraw: @Sendable () -> Void = { tls.take(prepared, now: 1) }
            let waits = Waits(withdraw)
            var configuration = HTTPServerConfiguration(limits: Limits(headerTimeout: .seconds(120), idleTimeout: .seconds(300)))
            configuration.layers = tls
            server = HTTPServer(
                configuration: configuration, router: Self.router(waits, withdraw),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            port = try server.start().port
            authorities = [kept, withdrawn]
            devices = [try await kept.issue("device"), try await withdrawn.issue("device")]
            self.withdraw = withdraw
            self.waits = waits
        }

        private static func router(_ waits: Waits, _ withdraw: @escaping @Sendable () -> Void) -> Router {
            var router = Router()
            // May be repeated with another `n`.
            router.on(.get, "/poll") { request, exchange in
                request.onRepeat(varying: "n", Repeated())
                exchange.respond(.text("routed"))
            }
            router.on(.get, "/stream") { _, exchange in
                exchange.stream(status: .ok, fields: [.contentType: "text/event-stream"]).write(Array("data: 1\n\n".utf8))
            }
            router.on(.put, "/value") { _, exchange in exchange.respond(.text("stored")) }
            router.on(.get, "/withdraw") { _, exchange in
                withdraw()
                exchange.respond(.text("withdrawn"))
            }
            router.on(.get, "/late") { _, exchange in waits.wait(exchange) }
            router.on(.get, "/repeated") { request, exchange in
                request.onRepeat(varying: "n", waits)
                exchange.respond(.text("routed"))
            }
            return router
        }

        /// Connects with the certificate of one of the authorities.
        func client(ofAuthority number: Int) throws -> SocketClient {
            let identity = (devices[number].chain, devices[number].key)
            let client = try SocketClient(port: port, trusting: authorities[0].certificate, .init(identity: identity))
            guard client.connect() else { throw MemoryClient.SetupFailure() }
            return client
        }

        func stop() async {
            await server.drain()
            waits.stop()
        }
    }

    private static let ok = "HTTP/1.1 200 OK"

    @Test("a connection that only repeats its request is closed, and that of another authority is not")
    func repetition() async throws {
        // Given a client of each of two authorities
        let fixture = try await Fixture()
        let statuses = try await Sockets.onThread {
            let clients = [try fixture.client(ofAuthority: 0), try fixture.client(ofAuthority: 1)]
            var statuses: [[String]] = []
            for number in 1...4 {
                // When one authority is withdrawn after the first repetition
                if number == 3 { fixture.withdraw() }
                statuses.append(clients.map { $0.get("/poll?n=\(number)") })
            }
            return statuses
        }
        // Then its client gets no more responses, and the other one goes on with repetitions
        #expect(statuses == [[Self.ok, Self.ok], [Self.ok, Self.ok], [Self.ok, ""], [Self.ok, ""]])
        let statistics = fixture.server.statistics()
        #expect(statistics.requests == 6 && statistics.requestsRecognised == 4)
        await fixture.stop()
    }

    @Test("no request on an outdated connection is handled, and a new connection of the other authority works")
    func requests() async throws {
        // Given connections of a client whose authority is withdrawn after their first requests
        let fixture = try await Fixture()
        let host = "HTTP/1.1\r\nHost: localhost\r\n"
        let put = "PUT /value \(host)Content-Length: 1\r\n\r\n1"
        let requests = [
            "GET /stream \(host)Accept: text/event-stream\r\n\r\n", put,
            // Its body has not arrived.
            "PUT /value \(host)Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n", "GET /none \(host)\r\n",
        ]
        let result = try await Sockets.onThread {
            let clients = try requests.map { _ in try fixture.client(ofAuthority: 1) }
            let before = clients.map { $0.get("/poll?n=1") }
            fixture.withdraw()
            // When each sends another one
            let after = zip(clients, requests).map { $0.status(of: $1) }
            let isClosed = clients.map { $0.client.isClosed }
            return (before: before, after: after, isClosed: isClosed, other: try fixture.client(ofAuthority: 0).status(of: put))
        }
        // Then none is answered, all connections end in order, and a client of the other authority is served
        let count = requests.count
        #expect(result.before == Array(repeating: Self.ok, count: count) && result.after == Array(repeating: "", count: count))
        #expect(result.isClosed == Array(repeating: true, count: count))
        #expect(result.other == Self.ok && fixture.server.statistics().requests == count + 1)
        await fixture.stop()
    }

    @Test("the response before a request that is not handled is sent")
    func pipelining() async throws {
        let fixture = try await Fixture()
        let text = try await Sockets.onThread {
            let client = try fixture.client(ofAuthority: 1)
            // When a request withdraws the authority, and another one comes with it
            let requests = ["/withdraw", "/poll?n=1"].map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined()
            client.sendRaw(client.client.send(Array(requests.utf8)))
            return client.readToEnd()
        }
        // Then the first one is answered alone
        #expect(text.hasPrefix(Self.ok) && text.hasSuffix("withdrawn") && fixture.server.statistics().requests == 1)
        await fixture.stop()
    }

    @Test("a wait ends whose authority is withdrawn while it begins", arguments: [["/late"], ["/repeated?n=1", "/repeated?n=2"]])
    func lateWait(paths: [String]) async throws {
        // Given a handler within which the authority is withdrawn, of the only request or of its repetition
        let fixture = try await Fixture()
        // When it leaves the request unanswered
        let (statuses, isClosed) = try await Sockets.onThread {
            let client = try fixture.client(ofAuthority: 1)
            return (paths.map { client.get($0) }, client.client.isClosed)
        }
        // Then the connection ends in order
        let earlier = Array(repeating: Self.ok, count: paths.count - 1)
        #expect(statuses == earlier + [""] && isClosed)
        await fixture.stop()
    }
}

extension Response {
    fileprivate static func text(_ text: String) -> Response { Response(status: .ok, body: Array(text.utf8)) }
}
