internal import CCurl
internal import Synchronization

/// Sends HTTP requests through libcurl, which runs on one thread of its own.
///
/// `curl_multi_poll` waits for sockets, `curl_multi_wakeup` for commands from other threads, so no Dispatch source and no lock is
/// involved in a transfer; connections are kept open and used again. All methods may be called from any thread.
///
/// An actor may live on the same thread, as the ``Engine`` does: what it asks for leaves and what comes reaches it without a change of
/// threads. Then its work holds up its transfers, and those of nobody else.
package final class CurlTransport: Sendable {
    /// What holds for all requests.
    package struct Configuration: Sendable {
        /// From the first SYN to the end of the TLS handshake.
        package var connectTimeout: Duration = .seconds(10)
        /// The most connections to one host; requests beyond that wait for one.
        package var maximumConnections = 8
        /// Over TLS only; off by default, since one broken connection then breaks the poll and all else.
        package var allowsHTTP2 = false
        package var userAgent = "freshet"
        /// Whether an `Authorization` field, or a URL's password, may go over plain `http` to other hosts than loopback.
        package var allowsInsecureCredentials = false
        /// Which requests go through a proxy; what the environment says when the configuration is made.
        package var proxies = ProxyRule.environment

        package init() {}
    }

    private let loop: CurlLoop

    /// - Throws: ``TransportError/failed(code:_:)`` when neither memory nor a thread can be had.
    package init(_ configuration: Configuration = Configuration()) throws(TransportError) {
        loop = try CurlLoop.start(configuration)
    }

    deinit { loop.shutdown() }

    // MARK: The thread

    /// Runs an actor on the thread.
    var executor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Calls the closure on the thread, after what was handed in before.
    func run(_ closure: @escaping @Sendable () -> Void) { loop.add(.closure(closure)) }

    /// Calls the closure on the thread in so many milliseconds of the time that the device is awake, instead of an earlier one.
    func setAlarm(in wait: Int64, _ fire: @escaping @Sendable () -> Void) { loop.setAlarm(in: wait, fire) }

    /// Takes back the latest ``setAlarm(in:_:)``.
    func clearAlarm() { loop.clearAlarm() }

    // MARK: Requests

    /// Sends a request.
    ///
    /// - Parameter completion: called exactly once, on the curl thread, which waits for it: hand the result on and return. Only
    ///   after ``shutdown()`` it is called at once on the caller's thread, with ``TransportError/aborted``.
    /// - Returns: a number that ``cancel(_:)`` takes.
    @discardableResult
    package func send(
        _ request: HTTPRequestDescription, _ completion: @escaping @Sendable (Result<HTTPReply, TransportError>) -> Void
    ) -> UInt64 {
        loop.send(request, completion)
    }

    /// Ends a request with ``TransportError/aborted``; nothing happens if it has ended already.
    package func cancel(_ id: UInt64) { loop.order(.cancel(id)) }

    /// Ends all requests with ``TransportError/aborted`` and closes the connections. Others may follow.
    func disconnect() { loop.order(.disconnect) }

    /// Ends all requests with ``TransportError/aborted``, closes the connections and lets the thread end. Further calls do nothing.
    package func shutdown() { loop.shutdown() }
}
