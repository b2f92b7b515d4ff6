package import FreshetServer
import FreshetSocketHTTP
package import FreshetWire
package import Logging

/// A server with a fault proxy in front of it, which takes faults over HTTP too: `/v1/{ns}/faults`.
///
/// The server listens on the loopback, on a port of the system's choice. Safe from any thread.
package final class FaultServer: Sendable {
    /// The proxy's root URL.
    package var url: String { proxy.url }
    private let server: RecordServer
    private let endpoints: HTTPServer
    private let injector = FaultInjector()
    private let proxy: FaultProxy

    /// Starts both; the URL works as soon as this returns. Blocks on the disk.
    ///
    /// - Parameter configuration: of the server; its host and its port are the proxy's.
    package init(_ configuration: RecordServerConfiguration, logger: Logger) throws(RecordServerError) {
        guard configuration.tls == nil else {
            throw .invalidConfiguration("a server that makes faults is for tests and has no TLS: leave 'tls' nil")
        }
        var inner = configuration
        (inner.host, inner.port) = ("127.0.0.1", 0)
        // Requests name the server by the address of the proxy, which has the connections of all clients.
        if RecordServerConfiguration.isHostName(configuration.host) { inner.hostNames.append(configuration.host) }
        inner.trustedProxies += AddressRange.loopback
        server = RecordServer(inner, logger: logger)
        let listener: ListeningSocket
        // Before the server starts: a port that is taken must leave no server that holds its directory.
        do throws(SocketHTTPError) {
            listener = try FaultProxy.listener(host: configuration.host, port: configuration.port)
        } catch { throw RecordServerError(error) }
        do throws(RecordServerError) {
            (endpoints, proxy) = try Self.start(server, behind: listener, configuration, injector, logger)
        } catch {
            SystemCall.close(listener.descriptor)
            throw error
        }
    }

    private static func start(
        _ server: RecordServer, behind listener: ListeningSocket, _ configuration: RecordServerConfiguration, _ injector: FaultInjector,
        _ logger: Logger
    ) throws(RecordServerError) -> (HTTPServer, FaultProxy) {
        let address = try server.start()
        guard let control = ServerControl(server) else { throw .failed("the server stopped as it started") }
        var limits = Limits(bodyBytes: 64 << 10)
        limits.trustedProxies = AddressRange.loopback
        let endpoints = HTTPServer(
            configuration: HTTPServerConfiguration(loops: 1, limits: limits), router: FaultEndpoints.router(injector, control),
            logger: logger)
        do throws(SocketHTTPError) {
            let bound = try endpoints.start()
            let proxy = try FaultProxy(
                listener, to: address.port, endpoints: bound.port, injector: injector, limits: Limits(bodyBytes: configuration.bodyBytes))
            return (endpoints, proxy)
        } catch { throw RecordServerError(error) }
    }

    /// Answers waiting readers, finishes the requests in flight, frozen and delayed ones too, and stops.
    package func stop() async {
        proxy.stopAccepting()
        injector.drain()
        await server.stop()
        await endpoints.drain(within: .seconds(2))
        await proxy.finish(within: .seconds(2))
    }

    // MARK: In this process, without HTTP

    /// `nil` once the server has stopped.
    package var control: ServerControl? { ServerControl(server) }

    /// Arms a fault. One that reaches the feed applies to polls that wait already, and ends streams, whose readers meet it when
    /// they connect again.
    @discardableResult
    package func arm(_ fault: Fault, in namespace: Namespace) -> ArmedFault { injector.arm(fault, in: namespace, control) }

    /// Disarms all faults of the namespace, and returns how many would still have matched.
    @discardableResult
    package func clear(_ namespace: Namespace) -> Int { injector.clear(namespace) }

    package func armed(in namespace: Namespace) -> [ArmedFault] { injector.armed(in: namespace) }

    /// Yields at once, and whenever a fault was armed, has matched or was cleared. Ends with ``forget(_:)``.
    package func faultEvents(in namespace: Namespace) -> AsyncStream<Void> { injector.follow(namespace) }

    /// Removes the faults of a namespace that is no longer used.
    package func forget(_ namespace: Namespace) { injector.forget(namespace) }
}

extension FaultInjector {
    func arm(_ fault: Fault, in namespace: Namespace, _ control: ServerControl?) -> ArmedFault {
        arm(fault, in: namespace, endStreams: { control?.releaseWaiters(in: namespace) })
    }
}
