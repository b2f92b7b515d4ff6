public import FoundationEssentials
public import HTTPTypes

/// A response, with its source and the reason.
public struct CachedHTTPResponse: Hashable, Sendable {
    /// The source of a response.
    public enum Source: String, Hashable, Sendable {
        /// The stored response, without asking the origin server.
        case cache
        /// The stored response, after the origin server confirmed it by `304`.
        case validated
        /// The origin server.
        case network
        /// None: the request has `only-if-cached` and no suitable response is stored, so the cache itself generated a `504`.
        case none
    }

    /// One redirect.
    public struct Redirect: Hashable, Sendable {
        /// The URL that answered with a redirect.
        public let url: String
        /// Its status: 301, 302, 303, 307 or 308.
        public let status: Int
        /// The source of that redirect.
        public let source: Source
    }

    /// Status and fields; with an `Age` if the response was stored.
    public let response: HTTPResponse
    /// The content as it was sent, with its `Content-Encoding`.
    public let body: [UInt8]
    /// The URL that gave the response: the last one after redirects.
    public let url: String
    /// The source of the response.
    public let source: Source
    /// The reason for ``source``; for ``Source/validated`` and ``Source/network``, why the origin server was asked.
    public let reason: HTTPCacheReason
    /// How the cache handled the response.
    public let storage: HTTPStorage
    /// When the origin server sent or last confirmed it, by this machine's clock; `nil` for ``Source/none``.
    public let verified: Date?
    /// Whether the response is that of another caller's identical request, so that none was sent for this one.
    public internal(set) var wasJoined = false
    /// The redirects that led here, in order.
    public internal(set) var redirects: [Redirect] = []

    /// The status code.
    public var status: Int { response.status.code }
    /// Whether it is past its lifetime and was served nevertheless.
    public var isStale: Bool {
        switch reason {
        case .staleAllowedByRequest, .staleWhileRevalidate, .staleIfError: true
        case .ageIgnored(let freshness): !freshness.isFresh
        default: false
        }
    }
}

extension CachedHTTPResponse: CustomStringConvertible {
    /// `200 http://example.org/ from cache: stored and fresh, age 12 s of 60 s by max-age; untouched`
    public var description: String { "\(status) \(url) from \(source.rawValue): \(reason); \(storage)" }
}

extension CachedHTTPResponse {
    /// Creates the answer to a request from a stored response.
    init(
        _ stored: StoredHTTPResponse, age: Int64, to method: HTTPRequest.Method, _ source: Source, _ reason: HTTPCacheReason,
        _ storage: HTTPStorage
    ) {
        self.init(
            response: stored.response(age: age), body: method == .head ? [] : stored.body, url: stored.url.description, source: source,
            reason: reason, storage: storage, verified: Date(milliseconds: stored.responseTime))
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
