public import FreshetCache
internal import FreshetTransport
public import HTTPTypes
public import Logging
internal import Synchronization

/// Sends HTTP requests over libcurl, through a private cache by RFC 9111, in place of `URLCache`.
///
/// ```swift
/// let client = try CachingHTTPClient(store: store)
/// let page = try await client.data(from: "https://example.org/")
/// print(page.body.count, page.source, page.reason)
/// ```
///
/// - Serves fresh responses without asking the origin, and validates stale ones by their `ETag` or `Last-Modified`. A
///   response states its source and the reason.
/// - Joins identical `GET` or `HEAD` requests in flight. Cancelling one caller does not affect the others; the request
///   ends with its last caller.
/// - Follows redirects itself rather than through libcurl: each is a separate response, stored and validated
///   separately, and the response stored for a URL is the one that this URL gave.
///
/// All members may be called from any thread. Connections stay open until the last reference is released, or ``shutdown()``.
public final class CachingHTTPClient: Sendable {
    /// The settings for all requests of a client.
    public struct Configuration: Sendable {
        /// The decisions that the standards leave to the cache.
        public var policy = HTTPCachePolicy()
        /// The time for a complete response, connecting included; each redirect gets the full time.
        public var timeout = Duration.seconds(30)
        /// The time for a connection, TLS included.
        public var connectTimeout = Duration.seconds(10)
        /// The most bytes of a response's content, stored or not; from 1.
        public var maximumContentSize = 64 << 20
        /// The most redirects that are followed; with 0 they are returned unchanged.
        public var maximumRedirects = 20
        /// The most connections to one host.
        public var maximumConnections = 8
        /// Sent as `User-Agent` where a request has none.
        public var userAgent = "freshet"
        /// Allows a request's `Authorization` to be sent over plain `http` to hosts other than loopback. Without it,
        /// such a request fails with ``HTTPClientError/invalidRequest(_:)`` before anything is sent.
        public var allowsInsecureCredentials = false
        /// The source of the time.
        public var clock = CacheClock.system
        /// Receives failures of the store and of background requests.
        public var logger = Logger(label: "freshet.http")

        /// Creates the default settings.
        public init() {}
    }

    let configuration: Configuration
    let transport: CurlTransport
    let repository: ResponseRepository
    let flights = InFlightRequests()
    let mutex = KeyedMutex<HTTPURL>()
    let counts = Mutex(HTTPClientStatistics())

    /// - Parameters:
    ///   - store: the storage of responses. Several clients may share one; an invalidation or removal by one of them does
    ///     not prevent the responses that are in flight to another from being stored.
    /// - Throws: ``HTTPClientError/failed(code:_:)`` if there is no memory or no thread.
    public init(store: any HTTPCacheStore, configuration: Configuration = Configuration()) throws(HTTPClientError) {
        self.configuration = configuration
        repository = ResponseRepository(store: store, logger: configuration.logger)
        var transport = CurlTransport.Configuration()
        transport.connectTimeout = configuration.connectTimeout
        transport.maximumConnections = max(1, configuration.maximumConnections)
        transport.userAgent = configuration.userAgent
        transport.allowsInsecureCredentials = configuration.allowsInsecureCredentials
        do {
            self.transport = try CurlTransport(transport)
        } catch {
            throw HTTPClientError(error, timeout: configuration.connectTimeout)
        }
    }

    /// The counts of this client so far.
    public var statistics: HTTPClientStatistics { counts.withLock { $0 } }

    /// The number of callers that wait for requests in flight.
    package var waiterCount: Int { flights.waiterCount }

    /// Gets a URL.
    ///
    /// - Parameters:
    ///   - url: an absolute `http` or `https` URL, percent-encoded; a fragment is left out.
    ///   - fields: sent with the request; `Accept: */*` and `User-Agent` are added if they are missing.
    ///   - mode: whether to use stored responses.
    /// - Throws: as ``data(for:body:mode:)``.
    public func data(
        from url: String, fields: HTTPFields = [:], mode: HTTPCacheMode = .standard
    ) async throws -> CachedHTTPResponse {
        guard let url = HTTPURL(url) else { throw HTTPClientError.invalidRequest(Self.rule(for: url)) }
        return try await data(
            for: HTTPRequest(method: .get, scheme: url.scheme, authority: url.authority, path: url.target, headerFields: fields), mode: mode
        )
    }

    /// Sends a request and returns its response, whatever the status. Redirects are followed.
    ///
    /// Responses to `GET` are stored and served according to their fields and the request's, and answer `HEAD` too. A
    /// successful request of another method removes the responses that it has outdated before this returns.
    ///
    /// - Parameters:
    ///   - request: with scheme, authority and path. Its `Cache-Control` is heeded; a request that has conditions or a
    ///     `Range` goes to the origin unchanged.
    ///   - body: the content to send; `nil` for none. The response to a `GET` with content is neither stored nor shared;
    ///     a `HEAD` may have none.
    ///   - mode: whether to use stored responses, for each redirect too.
    /// - Throws: ``HTTPClientError``, or `CancellationError` when the task is cancelled.
    public func data(
        for request: HTTPRequest, body: [UInt8]? = nil, mode: HTTPCacheMode = .standard
    ) async throws -> CachedHTTPResponse {
        var step = try step(for: request, body)
        var redirects: [CachedHTTPResponse.Redirect] = []
        while true {
            var result = try await exchange(step, mode)
            guard configuration.maximumRedirects > 0, let next = try step.following(result.response) else {
                result.redirects = redirects
                return result
            }
            redirects.append(CachedHTTPResponse.Redirect(url: result.url, status: result.status, source: result.source))
            guard redirects.count <= configuration.maximumRedirects else {
                throw HTTPClientError.tooManyRedirects(limit: configuration.maximumRedirects, last: next.url.description)
            }
            step = next
        }
    }

    /// Explains how a request would be served now, and why, without sending or changing anything.
    ///
    /// - Throws: ``HTTPClientError/invalidRequest(_:)``.
    public func explain(_ request: HTTPRequest, mode: HTTPCacheMode = .standard) async throws -> String {
        let step = try step(for: request, nil)
        let stored = await repository.response(for: step.request, at: step.url)
        let decision = configuration.policy.decision(for: step.request, stored: stored, mode: mode, now: configuration.clock.wall())
        return switch decision {
        case .serve(let reason): "from the cache: \(reason)"
        case .serveAndRevalidate(_, let reason): "from the cache: \(reason)"
        case .load(let conditions, let reason) where conditions.isEmpty: "from the origin: \(reason)"
        case .load(_, let reason): "validated by the origin: \(reason)"
        case .unavailable(let reason): "not at all, since the network is not allowed: \(reason)"
        }
    }

    /// Removes all stored responses of a URL; responses in flight to it will not be stored either.
    ///
    /// - Throws: ``HTTPClientError/invalidRequest(_:)``, or the store's error.
    public func remove(_ url: String) async throws {
        guard let parsed = HTTPURL(url) else { throw HTTPClientError.invalidRequest(Self.rule(for: url)) }
        try await outdate(parsed)
    }

    /// Removes all URLs with a prefix, such as `https://example.org/news/`; responses in flight to them will not be
    /// stored either.
    ///
    /// The prefix is compared with URLs in their stored spelling: scheme and host in lower case, no default port.
    /// O(stored URLs) with a `MemoryHTTPCacheStore`, O(removed URLs) on disk.
    ///
    /// - Parameter prefix: an absolute URL, at least scheme and host: `https://example.org` is that host and not `https://example.organic`.
    /// - Throws: ``HTTPClientError/invalidRequest(_:)``, or the store's error.
    public func removeAll(withPrefix prefix: String) async throws {
        guard let prefix = HTTPURL(prefix)?.description else { throw HTTPClientError.invalidRequest(Self.rule(for: prefix)) }
        flights.outdate { $0.description.utf8.starts(with: prefix.utf8) }
        // A write that began earlier ends before the removal; a later one sees that its request is outdated.
        await mutex.finish()
        try await repository.store.removeAll(withPrefix: prefix)
    }

    /// Removes everything, as on log-out; responses in flight will not be stored either.
    ///
    /// - Throws: the store's error.
    public func removeAll() async throws {
        flights.outdate { _ in true }
        // A write that began earlier ends before the removal; a later one sees that its request is outdated.
        await mutex.finish()
        try await repository.store.removeAll()
    }

    /// Waits until the background requests of `stale-while-revalidate` that are in flight have ended.
    public func finishRevalidations() async { await flights.finishKept() }

    /// Ends all requests with ``HTTPClientError/stopped`` and closes the connections. Stored responses stay.
    public func shutdown() { transport.shutdown() }

    private func step(for request: HTTPRequest, _ body: [UInt8]?) throws(HTTPClientError) -> RedirectStep {
        guard let url = HTTPURL(request) else {
            throw .invalidRequest(Self.rule(for: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"))
        }
        var request = request
        request.scheme = url.scheme
        request.authority = url.authority
        request.path = url.target
        // Responses are stored by URL.
        if let name = HTTPField.Name("Host"), let host = request.headerFields[name] {
            guard host == url.authority else {
                throw .invalidRequest("its Host \"\(host)\" is not the authority \"\(url.authority)\": put the host into the URL")
            }
            request.headerFields[name] = nil
        }
        if request.headerFields[.accept] == nil { request.headerFields[.accept] = "*/*" }
        if request.headerFields[.userAgent] == nil { request.headerFields[.userAgent] = configuration.userAgent }
        return RedirectStep(request: request, url: url, body: body)
    }

    private static func rule(for url: String) -> String {
        "\"\(url)\" is no absolute http or https URL of visible ASCII without a user's name: percent-encode it, put credentials into Authorization"
    }
}
