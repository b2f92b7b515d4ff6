internal import CFreshetCurl
package import FreshetPlatform
internal import Synchronization

/// Sends HTTP requests through libcurl, which runs on a dedicated thread.
///
/// `curl_multi_poll` waits for sockets, `curl_multi_wakeup` for commands from other threads, so a transfer involves no
/// Dispatch source and no lock. Connections are kept open and reused. All methods may be called from any thread.
///
/// An actor may run on the same thread, as the SDK's engine does: it sends requests and receives responses without a
/// change of threads. Its work then delays its own transfers, and no others.
package final class CurlTransport: Sendable {
    /// The settings for all requests.
    package struct Configuration: Sendable {
        /// From the first SYN to the end of the TLS handshake.
        package var connectTimeout: Duration = .seconds(10)
        /// The most connections to one host; requests beyond that wait for one. Less than 1 counts as 1.
        package var maximumConnections = 8
        /// Over TLS only; off by default, since one broken connection then breaks the poll and all other requests.
        package var allowsHTTP2 = false
        package var userAgent = "freshet"
        /// Whether an `Authorization` field, or a URL's password, may be sent over plain `http` to hosts other than
        /// loopback.
        package var allowsInsecureCredentials = false
        /// Whom requests over TLS trust, and who they are.
        package var tls = TLSTrust()
        /// A Unix socket to which all connections go; `nil` for those that the URLs name.
        package var unixSocket: AbsolutePath?
        /// Which requests go through a proxy; by default according to the environment at the time of the configuration.
        package var proxies = ProxyRule.environment

        package init() {}
    }

    private let loop: CurlLoop

    /// - Throws: ``TransportError/failed(code:_:)`` if there is no memory or no thread.
    package init(_ configuration: Configuration = Configuration()) throws(TransportError) {
        loop = try CurlLoop.start(configuration)
    }

    deinit { loop.shutdown() }

    // MARK: The thread

    /// Runs an actor on the thread.
    package var executor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Calls the closure on the thread, after earlier closures.
    package func run(_ closure: @escaping @Sendable () -> Void) { loop.add(.closure(closure)) }

    /// Calls the closure on the thread after this number of milliseconds, not counting sleep of the device, in place
    /// of an earlier timer.
    package func setTimer(in wait: Int64, _ fire: @escaping @Sendable () -> Void) { loop.setTimer(in: wait, fire) }

    /// Cancels the latest ``setTimer(in:_:)``.
    package func clearTimer() { loop.clearTimer() }

    // MARK: Requests

    /// Sends a request.
    ///
    /// - Parameter completion: called exactly once, on the curl thread, which waits for it: pass the result on and
    ///   return. Only after ``shutdown()`` is it called at once on the caller's thread, with
    ///   ``TransportError/aborted``.
    /// - Returns: a number that ``cancel(_:)`` takes.
    @discardableResult
    package func send(
        _ request: HTTPRequestDescription, _ completion: @escaping @Sendable (Result<HTTPReply, TransportError>) -> Void
    ) -> UInt64 {
        loop.send(request, completion)
    }

    /// Ends a request with ``TransportError/aborted``; does nothing if it has ended already.
    package func cancel(_ id: UInt64) { loop.order(.cancel(id)) }

    /// Ends all requests with ``TransportError/aborted`` and closes the connections. Further requests may follow.
    package func disconnect() { loop.order(.disconnect) }

    /// Ends all requests with ``TransportError/aborted``, closes the connections and lets the thread end. Further calls do nothing.
    package func shutdown() { loop.shutdown() }
}
