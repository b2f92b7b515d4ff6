package import HTTPTypes

/// What to do with a response that came from the network.
package enum HTTPCacheAnswer: Hashable, Sendable {
    /// Give it out, and keep it.
    case store(StoredHTTPResponse)
    /// Give out what is stored with its new fields, and keep those.
    case freshen(StoredHTTPResponse)
    /// Give out what is stored with its new fields, for the last time: these forbid to keep it.
    case confirmAndRemove(StoredHTTPResponse)
    /// Give it out, and keep the new fields of what is stored: it answered a `HEAD`.
    case passAndFreshen(StoredHTTPResponse)
    /// Give out what is stored although it is stale.
    case serveStale(HTTPCacheReason)
    /// Give it out, and do not keep it. `removesStored`: what is stored is no longer what the origin has.
    case pass(HTTPStorage.Refusal, removesStored: Bool)
    /// It confirms something that is not stored: ask again without conditions.
    case repeatWithoutConditions
}

extension HTTPCachePolicy {
    /// Decides about a response.
    ///
    /// - Parameters:
    ///   - request: as the caller made it, without the conditions that the cache added.
    ///   - stored: what is kept for the request; its conditions were sent where `isConditional`.
    ///   - requestTime: when the request was sent, in milliseconds since 1970.
    ///   - responseTime: when the response came, likewise.
    package func answer(
        to request: HTTPRequest, url: HTTPURL, _ response: HTTPResponse, _ body: [UInt8], stored: StoredHTTPResponse?, isConditional: Bool,
        requestTime: Int64, responseTime: Int64
    ) -> HTTPCacheAnswer {
        let status = response.status.code
        if status == 304, isConditional, let stored {
            guard stored.isConfirmed(by: response) else { return .repeatWithoutConditions }
            let new = stored.freshened(by: response.headerFields, requestTime: requestTime, responseTime: responseTime)
            let control = CacheControl(new.fields)
            return control.has("no-store") && !control.has("must-understand") ? .confirmAndRemove(new) : .freshen(new)
        }
        if Self.isOriginFailure(status), let stored, request.method == .get || request.method == .head,
            let reason = staleOnError(stored, for: request, error: "status \(status)", now: responseTime)
        {
            return .serveStale(reason)
        }
        if request.method == .head {
            guard status == 200, let stored, stored.status == 200, !RequestDemand(request).noStore else {
                return .pass(.method, removesStored: false)
            }
            guard stored.isDescribed(by: response) else { return .pass(.method, removesStored: true) }
            return .passAndFreshen(
                stored.freshened(by: response.headerFields, requestTime: requestTime, responseTime: responseTime))
        }
        if let refusal = refusal(of: response, contentSize: body.count, to: request) {
            return .pass(refusal, removesStored: removesStored(refusal, status))
        }
        return .store(
            StoredHTTPResponse(
                url: url, request: request, response: response, body: body, requestTime: requestTime, responseTime: responseTime))
    }

    /// Whether a whole answer of the origin, which may not be kept, has outdated what is.
    private func removesStored(_ refusal: HTTPStorage.Refusal, _ status: Int) -> Bool {
        switch refusal {
        case .method, .requestNoStore, .partial: false
        default: status < 500
        }
    }

    /// The URLs whose stored responses a request has outdated, its own first (RFC 9111 §4.4); none for a safe method or a failure.
    package func invalidations(by request: HTTPRequest, url: HTTPURL, _ response: HTTPResponse) -> [HTTPURL] {
        let safe: [HTTPRequest.Method] = [.get, .head, .options, .trace]
        guard !safe.contains(request.method), (200..<400).contains(response.status.code) else { return [] }
        let named = [HTTPField.Name.location, .contentLocation].compactMap { response.headerFields[$0] }
        // Another origin's resources are not this one's to say anything about.
        let others = named.compactMap { url.resolving($0) }.filter { $0.isSameOrigin(as: url) && $0 != url }
        return [url] + others
    }
}
