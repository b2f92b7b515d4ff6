package import HTTPTypes

/// What to do with a response that came from the network.
package enum HTTPCacheAnswer: Hashable, Sendable {
    /// Give it out, and keep it.
    case store(StoredHTTPResponse)
    /// Give out what is stored as it is: it is current, and stays stale.
    case serveConfirmed
    /// Give out what is stored with its new fields, and keep those.
    case freshen(StoredHTTPResponse)
    /// Give out what is stored with its new fields, for the last time: these forbid to keep it.
    case confirmAndRemove(StoredHTTPResponse, HTTPStorage.Refusal)
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
            switch stored.confirmation(by: response) {
            case .differs: return .repeatWithoutConditions
            case .confirms: return .serveConfirmed
            case .updates: break
            }
            let new = stored.freshened(by: response.headerFields, to: request, requestTime: requestTime, responseTime: responseTime)
            return Self.refusal(ofFreshened: new).map { .confirmAndRemove(new, $0) } ?? .freshen(new)
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
            // Nothing of a response that says no-store may be stored, its fields included (RFC 9111 §5.2.2.5). What is stored was allowed to be.
            guard !Self.forbidsStoring(response.headerFields) else { return .pass(.noStore, removesStored: false) }
            let new = stored.freshened(by: response.headerFields, to: request, requestTime: requestTime, responseTime: responseTime)
            return Self.refusal(ofFreshened: new).map { .pass($0, removesStored: true) } ?? .passAndFreshen(new)
        }
        if let refusal = refusal(of: response, contentSize: body.count, to: request) {
            return .pass(refusal, removesStored: removesStored(refusal, status))
        }
        return .store(
            StoredHTTPResponse(
                url: url, request: request, response: response, body: body, requestTime: requestTime, responseTime: responseTime))
    }

    /// Why a stored response may not be kept with the fields that it has been given.
    private static func refusal(ofFreshened response: StoredHTTPResponse) -> HTTPStorage.Refusal? {
        if forbidsStoring(response.fields) { return .noStore }
        return response.fields.varyNames == nil ? .variesByEverything : nil
    }

    /// `must-understand` takes the place of the `no-store` that stands beside it for older caches (RFC 9111 §5.2.2.3).
    private static func forbidsStoring(_ fields: HTTPFields) -> Bool {
        let control = CacheControl(fields)
        return control.has("no-store") && !control.has("must-understand")
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
