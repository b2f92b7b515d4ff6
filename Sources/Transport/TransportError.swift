/// The reason why there is no response. All but ``invalidRequest(_:)``, ``tls(_:)``, ``untrusted(_:)``, ``wrongKey(_:)`` and
/// ``tooLarge(limit:)`` may be temporary: try again later.
package enum TransportError: Error, Hashable, Sendable {
    /// The host's name could not be resolved. Check the URL and the network.
    case couldNotResolve(String)
    /// The connection was not accepted. Check that the server runs and the port is right.
    case couldNotConnect(String)
    /// The request's time was up, connecting included. Whether the server has acted is unknown: retry. `proxy` is the
    /// proxy of the request.
    case timedOut(proxy: String? = nil)
    /// The handshake failed, or a file of certificates cannot be used. Check both sides' versions and certificates.
    case tls(String)
    /// The server's certificate is not signed by a trusted authority, is for another name, or has expired.
    case untrusted(String)
    /// The server's key is none of those that are pinned.
    case wrongKey(String)
    /// The connection broke before the response was complete. Whether the server has acted is unknown: retry.
    case connectionLost(String)
    /// The response is not HTTP. Check that the URL leads to a Freshet server.
    case malformedResponse(String)
    /// The response is larger than allowed. Raise the limit, or ask for less.
    case tooLarge(limit: Int)
    /// It was cancelled, or the transport was shut down.
    case aborted
    /// The URL or the request cannot be sent. Correct it.
    case invalidRequest(String)
    /// libcurl failed in another way, which its code and text describe.
    case failed(code: Int, String)
}

extension TransportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .couldNotResolve(let text): "the host's name could not be resolved (\(text)): check the URL and the network"
        case .couldNotConnect(let text): "no connection (\(text)): check that the server runs and that host and port are right"
        case .timedOut(let proxy):
            "no complete response in time\(proxy.map { ", through \($0)" } ?? ""): the server or the network is slow, or the connection is dead"
        case .tls(let text): "the TLS handshake failed (\(text)): check that the port takes https, and the files of certificates"
        case .untrusted(let text):
            "the server's certificate is not trusted (\(text)): check the URL's name and this machine's clock, or name the file of its authority"
        case .wrongKey(let text):
            "the server's key is none of the pinned ones (\(text)): if the server has a new key, pin it; otherwise someone is in between"
        case .connectionLost(let text): "the connection broke before the response was complete (\(text))"
        case .malformedResponse(let text): "the answer is not HTTP (\(text)): check that the URL leads to a Freshet server"
        case .tooLarge(let limit): "the response has more than the \(limit) bytes allowed: raise the limit, or ask for less"
        case .aborted: "the request was cancelled"
        case .invalidRequest(let text): "the request cannot be sent (\(text)): correct the URL"
        case .failed(let code, let text): "libcurl failed with code \(code): \(text)"
        }
    }
}
