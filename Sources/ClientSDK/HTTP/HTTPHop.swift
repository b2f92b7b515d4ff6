internal import FreshetCache
internal import HTTPTypes

/// One request to one URL, on a way that may have redirects.
struct HTTPHop: Hashable, Sendable {
    /// With all fields that are sent, so that what `Vary` compares is what the origin sees.
    let request: HTTPRequest
    let url: HTTPURL
    let body: [UInt8]?

    /// Where a response leads (RFC 9110 §15.4), or `nil` where it is no redirect.
    ///
    /// - Throws: ``HTTPClientError/invalidRedirect(from:location:)``.
    func following(_ response: HTTPResponse) throws(HTTPClientError) -> HTTPHop? {
        let status = response.status.code
        guard [301, 302, 303, 307, 308].contains(status), let location = response.headerFields[.location] else { return nil }
        guard let next = url.resolving(location) else { throw .invalidRedirect(from: url.description, location: location) }
        var request = request
        var body = body
        // 303 asks for a GET; so do 301 and 302 after a POST, as every client has done since.
        if status == 303 && request.method != .head || status <= 302 && request.method == .post {
            request.method = .get
            body = nil
            for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation] {
                request.headerFields[name] = nil
            }
        }
        // What is meant for one origin is nothing for another to know.
        if !next.isSameOrigin(as: url) {
            for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization] { request.headerFields[name] = nil }
        }
        request.scheme = next.scheme
        request.authority = next.authority
        request.path = next.target
        return HTTPHop(request: request, url: next, body: body)
    }
}
