internal import FoundationEssentials
internal import FreshetCache
internal import FreshetTransport
internal import HTTPTypes
internal import Logging
internal import Synchronization

extension CachingHTTPClient {
    private var now: Int64 { configuration.clock.wall() }

    /// Sends one request to one URL, without following redirects.
    func exchange(_ step: RedirectStep, _ mode: HTTPCacheMode) async throws -> CachedHTTPResponse {
        try Task.checkCancellation()
        let result = try await uncountedExchange(step, mode)
        counts.withLock { $0.count(result) }
        return result
    }

    private func uncountedExchange(_ step: RedirectStep, _ mode: HTTPCacheMode) async throws -> CachedHTTPResponse {
        let stored = step.isCached ? await repository.response(for: step.request, at: step.url) : nil
        // A store may answer a cancelled task with an error, which counts as no response.
        try Task.checkCancellation()
        if let result = try withoutNetwork(step, stored, mode) { return result }
        // A request with no-store gets a response that is not shared with other callers.
        let isShared = step.isCached && !CacheControl(step.request.headerFields).has("no-store")
        let key = !isShared ? nil : InFlightRequests.Key(request: step.request, mode: mode)
        var (result, wasThere) = try await share(step, mode, key: key)
        // A response that may not be stored is only for its caller (RFC 9111 §4). A failure of the origin or of the store is
        // shared, so that many callers do not multiply the requests.
        if wasThere, case .refused(let refusal) = result.storage, refusal.forbidsSharing, result.source == .network,
            HTTPCachePolicy.describesResource(result.status)
        {
            (result, wasThere) = try await share(step, mode, key: nil)
        }
        result.wasJoined = wasThere
        return result
    }

    /// Returns the response if no request is needed or allowed, `nil` if one is.
    private func withoutNetwork(_ step: RedirectStep, _ stored: StoredHTTPResponse?, _ mode: HTTPCacheMode) throws -> CachedHTTPResponse? {
        let now = now
        switch configuration.policy.decision(for: step.request, stored: stored, mode: mode, now: now) {
        case .serve(let reason): return stored.map { served($0, step, reason, now) }
        case .serveAndRevalidate(_, let reason):
            revalidate(step, mode)
            return stored.map { served($0, step, reason, now) }
        case .load: return nil
        case .unavailable(let reason): return try unavailable(step, mode, reason)
        }
    }

    private func served(_ stored: StoredHTTPResponse, _ step: RedirectStep, _ reason: HTTPCacheReason, _ now: Int64) -> CachedHTTPResponse {
        let age = configuration.policy.freshness(of: stored, now: now).age
        return CachedHTTPResponse(stored, age: age, to: step.request.method, .cache, reason, .untouched)
    }

    private func confirmed(
        _ new: StoredHTTPResponse, _ step: RedirectStep, _ reason: HTTPCacheReason, _ storage: HTTPStorage, _ now: Int64
    ) -> CachedHTTPResponse {
        let age = configuration.policy.freshness(of: new, now: now).age
        return CachedHTTPResponse(new, age: age, to: step.request.method, .validated, reason, storage)
    }

    private func unavailable(_ step: RedirectStep, _ mode: HTTPCacheMode, _ reason: HTTPCacheReason) throws -> CachedHTTPResponse {
        guard mode != .cacheOnly else {
            counts.withLock { $0.unavailable += 1 }
            throw HTTPClientError.notCached("\(step.url): \(reason)")
        }
        return CachedHTTPResponse(
            response: HTTPResponse(status: .gatewayTimeout), body: [], url: step.url.description, source: .none, reason: reason,
            storage: .untouched, verified: nil)
    }

    private func share(
        _ step: RedirectStep, _ mode: HTTPCacheMode, key: InFlightRequests.Key?
    ) async throws -> (result: CachedHTTPResponse, wasThere: Bool) {
        let (flight, wasThere) = flights.enter(key, url: step.url) { [self] flight in try await load(step, mode, flight) }
        return (try await flights.outcome(of: flight), wasThere)
    }

    /// Asks the origin for later callers; if that fails, the next caller's request reports why.
    private func revalidate(_ step: RedirectStep, _ mode: HTTPCacheMode) {
        _ = flights.enter(InFlightRequests.Key(request: step.request, mode: mode), url: step.url, isKept: true) { [self] flight in
            do {
                return try await load(step, mode, flight)
            } catch {
                configuration.logger.info("a background request failed", metadata: ["url": "\(step.url)", "error": "\(error)"])
                throw error
            }
        }
    }

    /// Runs the request. It checks the store again, since another request may have ended after the caller's check.
    private func load(_ step: RedirectStep, _ mode: HTTPCacheMode, _ flight: UInt64) async throws -> CachedHTTPResponse {
        let stored = step.isCached ? await repository.response(for: step.request, at: step.url) : nil
        let now = now
        switch configuration.policy.decision(for: step.request, stored: stored, mode: mode, now: now) {
        case .serve(let reason):
            guard let stored else { return try await ask(step, mode, nil, [:], .notStored, flight) }
            return served(stored, step, reason, now)
        case .unavailable(let reason): return try unavailable(step, mode, reason)
        case .load(let conditions, let reason), .serveAndRevalidate(let conditions, let reason):
            return try await ask(step, mode, stored, conditions, reason, flight)
        }
    }

    /// Asks the origin.
    private func ask(
        _ step: RedirectStep, _ mode: HTTPCacheMode, _ stored: StoredHTTPResponse?, _ conditions: HTTPFields, _ reason: HTTPCacheReason,
        _ flight: UInt64
    ) async throws -> CachedHTTPResponse {
        let began = ContinuousClock.now
        let sent = now
        let outcome = await transport.reply(to: description(of: step, conditions))
        let came = now
        let reply: HTTPReply
        switch outcome {
        case .success(let success): reply = success
        case .failure(let error):
            try Task.checkCancellation()
            counts.withLock { $0.failed += 1 }
            if let stored, error.isOriginFailure,
                let reason = configuration.policy.staleOnError(
                    stored, for: step.request, mode: mode, error: error.description, now: came)
            {
                return served(stored, step, reason, came)
            }
            if case .timedOut = error, began.duration(to: .now) < configuration.timeout {
                throw HTTPClientError.unreachable("no connection within \(configuration.connectTimeout)")
            }
            throw HTTPClientError(error, timeout: configuration.timeout)
        }
        let response = HTTPResponse(status: HTTPResponse.Status(code: reply.status), headerFields: reply.fields)
        for url in configuration.policy.invalidations(by: step.request, url: step.url, response) {
            await store("outdated responses cannot be removed") { try await self.outdate(url) }
        }
        let answer = configuration.policy.action(
            to: step.request, hasContent: step.hasContent, url: step.url, response, reply.body, stored: stored,
            isConditional: !conditions.isEmpty, mode: mode, requestTime: sent, responseTime: came)
        let passed = { (storage: HTTPStorage) in
            CachedHTTPResponse(
                response: response, body: reply.body, url: step.url.description, source: .network, reason: reason, storage: storage,
                verified: Date(milliseconds: came))
        }
        switch answer {
        case .store(let new): return passed(await keep(new, step, flight))
        case .passAndFreshen(let new): return passed(await keep(new, step, freshening: stored, flight))
        case .freshen(let new): return confirmed(new, step, reason, await keep(new, step, freshening: stored, flight), came)
        case .confirmAndRemove(let new, let refusal):
            await removeUnlessOutdated(step.url, flight)
            return confirmed(new, step, reason, .refused(refusal), came)
        case .serveConfirmed:
            guard let stored else { return passed(.untouched) }
            return confirmed(stored, step, reason, .untouched, came)
        case .serveStale(let reason):
            guard let stored else { return passed(.untouched) }
            return served(stored, step, reason, came)
        case .pass(let refusal, let removesStored):
            if removesStored { await removeUnlessOutdated(step.url, flight) }
            return passed(.refused(refusal))
        case .repeatWithoutConditions: return try await ask(step, mode, stored, [:], .validationMismatch, flight)
        }
    }

    private func description(of step: RedirectStep, _ conditions: HTTPFields) -> HTTPRequestDescription {
        var fields = step.request.headerFields
        for field in conditions { fields[fields: field.name] = [field] }
        return HTTPRequestDescription(
            method: step.request.method, url: step.url.description, fields: fields, body: step.body, timeout: configuration.timeout,
            maximumResponseSize: max(1, configuration.maximumContentSize))
    }
}

// MARK: Writing to the store, one operation at a time for each URL

extension CachingHTTPClient {
    /// Stores a response, unless the URL was outdated while the request was in flight, or a newer response was stored.
    /// - Parameter old: the stored response that the origin confirmed, if the response is that one with new fields.
    private func keep(
        _ response: StoredHTTPResponse, _ step: RedirectStep, freshening old: StoredHTTPResponse? = nil, _ flight: UInt64
    ) async -> HTTPStorage {
        var result = HTTPStorage.refused(.outdated)
        let failure = await store("a response cannot be stored") { [self] in
            try await mutex.perform(for: response.url) {
                guard !self.flights.isOutdated(flight) else { return false }
                return try await self.repository.keep(response, for: step.request, freshening: old)
            }
        }
        switch failure {
        case .success(true):
            result = old == nil ? .stored : .freshened
            counts.withLock { $0.stored += 1 }
        case .success(false): break
        case .failure(let error): result = .refused(.storeFailed("\(error)"))
        }
        return result
    }

    private func removeUnlessOutdated(_ url: HTTPURL, _ flight: UInt64) async {
        await store("an outdated response cannot be removed") { [self] in
            try await mutex.perform(for: url) {
                guard !self.flights.isOutdated(flight) else { return }
                try await self.repository.remove(url)
            }
        }
    }

    /// Removes a URL, and prevents responses in flight to it from being stored.
    func outdate(_ url: HTTPURL) async throws {
        flights.outdate { $0 == url }
        try await mutex.perform(for: url) { try await self.repository.remove(url) }
    }

    /// Writes to the store. A failure is logged and counted, and does not fail the request.
    @discardableResult
    private func store<Success>(_ trouble: String, _ body: () async throws -> Success) async -> Result<Success, any Error> {
        do {
            return .success(try await body())
        } catch {
            counts.withLock { $0.storeFailures += 1 }
            configuration.logger.warning("\(trouble)", metadata: ["error": "\(error)"])
            return .failure(error)
        }
    }
}

extension TransportError {
    /// Whether a gateway would answer with 502 or 504 (RFC 5861 §4).
    fileprivate var isOriginFailure: Bool {
        switch self {
        case .couldNotResolve, .couldNotConnect, .timedOut, .connectionLost, .malformedResponse, .failed: true
        case .tls, .untrusted, .wrongKey, .tooLarge, .aborted, .invalidRequest: false
        }
    }
}
