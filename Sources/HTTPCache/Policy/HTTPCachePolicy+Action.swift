package import HTTPTypes

/// The action for a response from the network.
package enum HTTPCacheAction: Hashable, Sendable {
    /// Return the new response, and store it.
    case store(StoredHTTPResponse)
    /// Return the stored response unchanged: it is current, but its fields stay, so it is still stale.
    case serveConfirmed
    /// Return the stored response with its new fields, and store those.
    case freshen(StoredHTTPResponse)
    /// Return the stored response with its new fields once, and remove it: it may not be stored with them.
    case confirmAndRemove(StoredHTTPResponse, HTTPStorage.Refusal)
    /// Return the new response, the answer to a `HEAD`, and update the fields of the stored response.
    case passAndFreshen(StoredHTTPResponse)
    /// Return the stored response although it is stale.
    case serveStale(HTTPCacheReason)
    /// Return the new response without storing it. `removesStored`: the stored response no longer matches the origin.
    case pass(HTTPStorage.Refusal, removesStored: Bool)
    /// The response confirms a version that is not stored: repeat the request without conditions.
    case repeatWithoutConditions
}

extension HTTPCachePolicy {
    /// Decides about a response.
    ///
    /// - Parameters:
    ///   - request: the caller's request, without the conditions that the cache added.
    ///   - hasContent: whether content was sent with the request.
    ///   - stored: the stored response for the request; its conditions were sent if `isConditional`.
    ///   - mode: the mode of the request.
    ///   - requestTime: when the request was sent, in milliseconds since 1970.
    ///   - responseTime: when the response was received, in milliseconds since 1970.
    package func action(
        to request: HTTPRequest, hasContent: Bool, url: HTTPURL, _ response: HTTPResponse, _ body: [UInt8], stored: StoredHTTPResponse?,
        isConditional: Bool, mode: HTTPCacheMode, requestTime: Int64, responseTime: Int64
    ) -> HTTPCacheAction {
        let status = response.status.code
        if status == 304, isConditional, let stored {
            switch stored.validation(by: response) {
            case .differs: return .repeatWithoutConditions
            case .confirms: return .serveConfirmed
            case .updates: break
            }
            let new = stored.freshened(by: response.headerFields, to: request, requestTime: requestTime, responseTime: responseTime)
            return Self.refusal(ofFreshened: new).map { .confirmAndRemove(new, $0) } ?? .freshen(new)
        }
        if Self.isOriginFailure(status), let stored, request.method == .get || request.method == .head,
            let reason = staleOnError(stored, for: request, mode: mode, error: "status \(status)", now: responseTime)
        {
            return .serveStale(reason)
        }
        if request.method == .head {
            guard status == 200, let stored, stored.status == 200, !RequestDemand(request).noStore else {
                return .pass(.method, removesStored: false)
            }
            guard stored.isDescribed(by: response) else { return .pass(.method, removesStored: true) }
            // Nothing of a response with no-store may be stored, its fields included (RFC 9111 §5.2.2.5). The stored
            // response had no no-store.
            guard !Self.forbidsStoring(response.headerFields) else { return .pass(.noStore, removesStored: false) }
            let new = stored.freshened(by: response.headerFields, to: request, requestTime: requestTime, responseTime: responseTime)
            return Self.refusal(ofFreshened: new).map { .pass($0, removesStored: true) } ?? .passAndFreshen(new)
        }
        let new = StoredHTTPResponse(
            url: url, request: request, response: response, body: body, requestTime: requestTime, responseTime: responseTime)
        // An error that is stale at once would only displace the resource, for the modes that accept any age.
        let isWorthless = !Self.describesResource(status) && freshness(of: new, now: responseTime).lifetime == 0
        var refusal: HTTPStorage.Refusal? =
            hasContent && request.method == .get
            ? .requestContent : refusal(of: response, contentSize: body.count, to: request) ?? (isWorthless ? .noLifetime : nil)
        if refusal == nil, new.exceedsFieldLimits { refusal = .tooManyFields }
        return refusal.map { .pass($0, removesStored: removesStored($0, status)) } ?? .store(new)
    }

    /// Why a stored response may not be kept with its new fields.
    private static func refusal(ofFreshened response: StoredHTTPResponse) -> HTTPStorage.Refusal? {
        if forbidsStoring(response.fields) { return .noStore }
        if response.fields.varyNames == nil { return .variesByEverything }
        return response.exceedsFieldLimits ? .tooManyFields : nil
    }

    /// `must-understand` overrides a `no-store` beside it, which is for older caches (RFC 9111 §5.2.2.3).
    private static func forbidsStoring(_ fields: HTTPFields) -> Bool {
        let control = CacheControl(fields)
        return control.has("no-store") && !control.has("must-understand")
    }

    /// Whether a complete response of the origin that may not be stored makes the stored one outdated.
    private func removesStored(_ refusal: HTTPStorage.Refusal, _ status: Int) -> Bool {
        switch refusal {
        case .method, .requestNoStore, .requestContent, .partial: false
        default: Self.describesResource(status)
        }
    }

    /// Whether a status is about the resource, and not about the server, a proxy, the connection or the number of requests.
    static func describesResource(_ status: Int) -> Bool { status < 500 && ![407, 408, 421, 425, 429].contains(status) }

    /// The URLs whose stored responses a request makes outdated, the request's URL first (RFC 9111 §4.4); none for a
    /// safe method or a failure.
    package func invalidations(by request: HTTPRequest, url: HTTPURL, _ response: HTTPResponse) -> [HTTPURL] {
        let safe: [HTTPRequest.Method] = [.get, .head, .options, .trace]
        guard !safe.contains(request.method), (200..<400).contains(response.status.code) else { return [] }
        let named = [HTTPField.Name.location, .contentLocation].compactMap { response.headerFields[$0] }
        // A response must not invalidate the resources of another origin.
        let others = named.compactMap { url.resolving($0) }.filter { $0.isSameOrigin(as: url) && $0 != url }
        return [url] + others
    }
}
