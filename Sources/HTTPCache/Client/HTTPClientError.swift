internal import FreshetTransport

/// The reason why ``CachingHTTPClient`` has no response. A request that fails stores nothing.
///
/// Network failures may be temporary. Whether the origin has acted on a request that was sent is unknown.
public enum HTTPClientError: Error, Hashable, Sendable {
    /// The URL, the request or a setting cannot be used. Correct it as the text says.
    case invalidRequest(String)
    /// The mode forbids the network, and no suitable response is stored. Use another mode. The text explains what was
    /// missing.
    case notCached(String)
    /// Name resolution or the connection failed. Check the URL and the network, or try again later.
    case unreachable(String)
    /// The time was up before the response was complete. Try again, or allow more time.
    case timedOut(after: Duration)
    /// The certificate or the handshake failed. Check the certificate, this machine's clock and its trusted roots.
    case tls(String)
    /// The connection broke before the response was complete. Try again.
    case connectionLost(String)
    /// The response is not HTTP. Check that host and port are right.
    case malformedResponse(String)
    /// The content has more bytes than the configuration allows. Raise the limit, or ask for less.
    case tooLarge(limit: Int)
    /// There were more redirects than the configuration allows, perhaps in a circle. The text is the last URL.
    case tooManyRedirects(limit: Int, last: String)
    /// A redirect leads to no HTTP URL. Report it to the origin's operator; the texts are its URL and its `Location`.
    case invalidRedirect(from: String, location: String)
    /// ``CachingHTTPClient/shutdown()`` was called. Make a new client.
    case stopped
    /// libcurl failed in another way, which its code and text describe.
    case failed(code: Int, String)
}

extension HTTPClientError {
    init(_ error: TransportError, timeout: Duration) {
        self =
            switch error {
            case .couldNotResolve(let text), .couldNotConnect(let text): .unreachable(text)
            case .timedOut: .timedOut(after: timeout)
            case .tls(let text), .untrusted(let text), .wrongKey(let text): .tls(text)
            case .connectionLost(let text): .connectionLost(text)
            case .malformedResponse(let text): .malformedResponse(text)
            case .tooLarge(let limit): .tooLarge(limit: limit)
            case .aborted: .stopped
            case .invalidRequest(let text): .invalidRequest(text)
            case .failed(let code, let text): .failed(code: code, text)
            }
    }
}

extension HTTPClientError: CustomStringConvertible {
    /// A complete sentence, with the action to take.
    public var description: String {
        switch self {
        case .invalidRequest(let text): "the request cannot be sent: \(text)"
        case .notCached(let text): "\(text), and the mode forbids the network: ask with another mode"
        case .unreachable(let text): "the origin cannot be reached (\(text)): check the URL and the network"
        case .timedOut(let limit): "no complete response within \(limit): try again, or allow more time"
        case .tls(let text): "the TLS handshake failed (\(text)): check the certificate, the clock and the trusted roots"
        case .connectionLost(let text): "the connection broke before the response was complete (\(text)): try again"
        case .malformedResponse(let text): "the answer is not HTTP (\(text)): check host and port"
        case .tooLarge(let limit): "the content has more than the \(limit) bytes allowed: raise the limit, or ask for less"
        case .tooManyRedirects(let limit, let last): "more than \(limit) redirects, the last to \(last): it may be a circle"
        case .invalidRedirect(let url, let location): "\(url) redirects to \"\(location)\", which is no HTTP URL"
        case .stopped: "the client was shut down: make a new one"
        case .failed(let code, let text): "libcurl failed with code \(code): \(text)"
        }
    }
}
