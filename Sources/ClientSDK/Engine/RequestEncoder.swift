internal import FreshetTransport
internal import FreshetWire
internal import HTTPTypes

/// Encodes the machine's requests as HTTP requests. Pure.
struct RequestEncoder: Sendable {
    /// The server's address without a slash at the end.
    let base: String
    let namespace: Namespace
    let responseLimit: Int

    func encode(_ request: RequestDescription, token: String?) -> HTTPRequestDescription {
        let timeout = Duration.milliseconds(request.timeout)
        switch request.kind {
        case .changes(let since, let filter, let wait, let limit, let client):
            let path = namespace.changesPath(since: since, filter: filter, wait: wait, limit: limit, values: true, client: client)
            return self.request(.get, path, token, timeout)
        case .writes(let batch): return self.request(.post, namespace.writesPath, token, timeout, json: batch.json)
        case .reads(let reads): return self.request(.post, namespace.readsPath, token, timeout, json: reads.json)
        case .record(let key, let known, let client):
            var result = self.request(.get, namespace.path(of: key, client: client), token, timeout)
            result.fields[.ifNoneMatch] = known?.entityTag
            return result
        case .list(let collection, let after, let limit):
            return self.request(.get, namespace.listPath(of: collection, after: after, limit: limit, values: false), token, timeout)
        case .clientStatus(let client): return self.request(.get, namespace.path(of: client), token, timeout)
        }
    }

    /// Returns a request to a path under the server's address.
    func request(
        _ method: HTTPRequest.Method, _ path: String, _ token: String?, _ timeout: Duration, json: [UInt8]? = nil
    ) -> HTTPRequestDescription {
        var fields: HTTPFields = [.accept: "application/json, application/problem+json"]
        if let token { fields[.authorization] = "Bearer \(token)" }
        if json != nil { fields[.contentType] = Content.json }
        return HTTPRequestDescription(
            method: method, url: base + path, fields: fields, body: json, timeout: timeout, maximumResponseSize: responseLimit)
    }
}
