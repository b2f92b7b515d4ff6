package import FreshetSocketHTTP

/// An HTTP/1.1 proxy in front of a server on the loopback that makes the network fail as tests want it: by the faults
/// of a ``FaultInjector``, request by request, and by cutting all connections.
///
/// Where no fault applies, it passes on the bytes of both sides as they are. Requests of one connection are passed on
/// one after another, each when it has arrived whole. A request that the server would not understand ends that: from
/// then on the proxy is a tunnel.
///
/// Memory: for each connection at most one request, of the size that the limits allow, and 256 KiB in each direction.
///
/// Safe from any thread. A proxy that is released closes all its connections.
package final class FaultProxy: Sendable {
    /// Where clients connect to.
    package let address: BoundAddress
    /// The first line of each request whose response is being held back by ``hold(answersTo:)``.
    package let heldRequests: AsyncStream<String>
    private let loop: ProxyLoop

    /// Listens and starts a thread. The address works as soon as this returns.
    ///
    /// - Parameters:
    ///   - host: an address or a name to listen on.
    ///   - port: 0 picks a free one.
    ///   - target: the server's port on the loopback.
    ///   - endpoints: the port on the loopback of the server that answers `/v1/{ns}/faults`; `nil` leaves these paths to
    ///     the server.
    ///   - injector: the faults; `nil` for none.
    ///   - limits: those of the server.
    package convenience init(
        host: String = "127.0.0.1", port: Int = 0, to target: Int, endpoints: Int? = nil, injector: FaultInjector? = nil,
        limits: Limits = Limits()
    ) throws(SocketHTTPError) {
        let listener = try Self.listener(host: host, port: port)
        do throws(SocketHTTPError) {
            try self.init(listener, to: target, endpoints: endpoints, injector: injector, limits: limits)
        } catch {
            SystemCall.close(listener.descriptor)
            throw error
        }
    }

    /// Starts a thread that accepts connections of the listener. If this throws, the listener still belongs to the caller.
    init(_ listener: ListeningSocket, to target: Int, endpoints: Int?, injector: FaultInjector?, limits: Limits) throws(SocketHTTPError) {
        let (requests, continuation) = AsyncStream.makeStream(of: String.self)
        heldRequests = requests
        address = listener.address
        let loop = try ProxyLoop(listener) { resume in
            ProxyRules(target: target, endpoints: endpoints, injector, limits, heldRequests: continuation, resume: resume)
        }
        self.loop = loop
        injector?.add { [weak loop] namespace in
            var hasStreams = false
            loop?.change { state in
                for connection in state.connections.values {
                    connection.applyFaults(toPollIn: namespace)
                    hasStreams = hasStreams || connection.isStream(of: namespace)
                }
            }
            return hasStreams
        }
    }

    /// Listens, with the backlog of a proxy.
    static func listener(host: String, port: Int) throws(SocketHTTPError) -> ListeningSocket {
        try ListeningSocket(host: host, port: port, backlog: 1_024)
    }

    deinit { loop.close() }

    /// The root URL.
    package var url: String { address.description }
    package var port: Int { address.port }

    // MARK: The link

    /// Sends new connections to another port, as after a restart of the server.
    package func retarget(to port: Int) { loop.change { $0.rules.target = port } }

    /// Breaks all connections; new ones are accepted.
    package func cut() { loop.change { $0.closeAll() } }

    /// Breaks all connections and every new one, until ``acceptAgain()``.
    package func refuse() {
        loop.change {
            $0.refuses = true
            $0.closeAll()
        }
    }

    package func acceptAgain() { loop.change { $0.refuses = false } }

    // MARK: Responses

    /// Holds back the response to every request from now on whose head contains one of the texts. The request itself
    /// reaches the server.
    package func hold(answersTo texts: String...) { loop.change { $0.rules.heldTexts = texts } }

    /// Passes on the responses held back, and holds back no more.
    package func release() {
        loop.change { state in
            state.rules.heldTexts = []
            for connection in state.connections.values { connection.release() }
        }
    }

    // MARK: The end

    /// Accepts no more connections.
    package func stopAccepting() { loop.change { $0.stopAccepting() } }

    /// Waits until all that servers have sent is passed on, and all connections to them have ended, but no longer than
    /// the limit. Then closes all connections.
    package func finish(within limit: Duration) async {
        await loop.waitUntilDone(within: limit)
        loop.close()
    }
}
