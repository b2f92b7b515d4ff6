internal import HTTPTypes

/// One request to one URL, in a chain that may have redirects.
struct RedirectStep: Hashable, Sendable {
    /// With all fields that are sent, so that `Vary` compares the fields that the origin sees.
    let request: HTTPRequest
    let url: HTTPURL
    let body: [UInt8]?

    /// Whether content is sent. The response may depend on it (RFC 9110 §9.3.1), so such a response is for its caller alone.
    var hasContent: Bool { body?.isEmpty == false }
    /// Whether a stored response may answer the request, or the response may be stored or shared.
    var isCached: Bool { (request.method == .get || request.method == .head) && !hasContent }

    /// Returns the request to which a response redirects (RFC 9110 §15.4), or `nil` if it is no redirect.
    ///
    /// - Throws: ``HTTPClientError/invalidRedirect(from:location:)``.
    func following(_ response: HTTPResponse) throws(HTTPClientError) -> RedirectStep? {
        let status = response.status.code
        guard [301, 302, 303, 307, 308].contains(status), let location = response.headerFields[.location] else { return nil }
        guard let next = url.resolving(location) else { throw .invalidRedirect(from: url.description, location: location) }
        var request = request
        var body = body
        // 303 asks for a GET; so do 301 and 302 after a POST, as all clients treat them.
        if status == 303 && request.method != .head || status <= 302 && request.method == .post {
            request.method = .get
            body = nil
            for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation] {
                request.headerFields[name] = nil
            }
        }
        // Credentials for one origin must not reach another.
        if !next.isSameOrigin(as: url) {
            for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization] { request.headerFields[name] = nil }
        }
        request.scheme = next.scheme
        request.authority = next.authority
        request.path = next.target
        return RedirectStep(request: request, url: next, body: body)
    }
}
