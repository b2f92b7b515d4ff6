public import FoundationEssentials
public import FreshetCache
public import HTTPTypes

/// A response, and how it came about.
public struct CachedHTTPResponse: Hashable, Sendable {
    /// Where a response came from.
    public enum Source: String, Hashable, Sendable {
        /// What is stored, without asking the origin.
        case cache
        /// What is stored, after the origin confirmed it by `304`.
        case validated
        /// The origin.
        case network
        /// Nowhere: the request says `only-if-cached` and nothing that fits is stored, so the response is a `504` of the cache's own.
        case none
    }

    /// One step on the way of redirects.
    public struct Hop: Hashable, Sendable {
        /// The URL that answered with a redirect.
        public let url: String
        /// Its status: 301, 302, 303, 307 or 308.
        public let status: Int
        /// Where that redirect came from.
        public let source: Source
    }

    /// Status and fields; with an `Age` where it was stored.
    public let response: HTTPResponse
    /// The content as it was sent: a `Content-Encoding` is not undone.
    public let body: [UInt8]
    /// The URL that gave the response: the last one, where there were redirects.
    public let url: String
    /// Where it came from.
    public let source: Source
    /// Why it came from there; for ``Source/validated`` and ``Source/network``, why the origin was asked.
    public let reason: HTTPCacheReason
    /// What the cache did with it.
    public let storage: HTTPStorage
    /// When the origin sent or last confirmed it, by this machine's clock; `nil` for ``Source/none``.
    public let verified: Date?
    /// Whether the same request of another caller was under way, so that none was sent for this one.
    public internal(set) var wasJoined = false
    /// The redirects that led here, in order.
    public internal(set) var redirects: [Hop] = []

    /// The status code.
    public var status: Int { response.status.code }
    /// Whether it is past its lifetime and was given out all the same.
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
    /// What is stored, as an answer to a request.
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
