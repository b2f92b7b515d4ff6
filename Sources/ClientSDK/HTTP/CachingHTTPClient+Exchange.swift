internal import FoundationEssentials
internal import FreshetCache
internal import HTTPTypes
internal import Logging
internal import Synchronization

extension CachingHTTPClient {
    private var now: Int64 { configuration.clock.wall() }

    /// Sends one request to one URL, without following redirects.
    func exchange(_ hop: HTTPHop, _ mode: HTTPCacheMode) async throws -> CachedHTTPResponse {
        try Task.checkCancellation()
        let result = try await uncountedExchange(hop, mode)
        counts.withLock { $0.count(result) }
        return result
    }

    private func uncountedExchange(_ hop: HTTPHop, _ mode: HTTPCacheMode) async throws -> CachedHTTPResponse {
        let isCached = hop.request.method == .get || hop.request.method == .head
        let stored = isCached ? await repository.response(for: hop.request, at: hop.url) : nil
        if let result = try withoutNetwork(hop, stored, mode) { return result }
        // A request with no-store gets a response that is not shared with other callers.
        let isShared = isCached && !CacheControl(hop.request.headerFields).has("no-store")
        let key = !isShared ? nil : FlightTable.Key(request: hop.request, mode: mode)
        var (result, wasThere) = try await fly(hop, mode, key: key)
        // A response that may not be stored is only for its caller (RFC 9111 §4). A failure is shared, so that many callers
        // do not multiply the requests.
        if wasThere, case .refused = result.storage, result.source == .network, result.status < 500 {
            (result, wasThere) = try await fly(hop, mode, key: nil)
        }
        result.wasJoined = wasThere
        return result
    }

    /// Returns the response if no request is needed or allowed, `nil` if one is.
    private func withoutNetwork(_ hop: HTTPHop, _ stored: StoredHTTPResponse?, _ mode: HTTPCacheMode) throws -> CachedHTTPResponse? {
        let now = now
        switch configuration.policy.decision(for: hop.request, stored: stored, mode: mode, now: now) {
        case .serve(let reason): return stored.map { served($0, hop, reason, now) }
        case .serveAndRevalidate(_, let reason):
            revalidate(hop, mode)
            return stored.map { served($0, hop, reason, now) }
        case .load: return nil
        case .unavailable(let reason): return try unavailable(hop, mode, reason)
        }
    }

    private func served(_ stored: StoredHTTPResponse, _ hop: HTTPHop, _ reason: HTTPCacheReason, _ now: Int64) -> CachedHTTPResponse {
        let age = configuration.policy.freshness(of: stored, now: now).age
        return CachedHTTPResponse(stored, age: age, to: hop.request.method, .cache, reason, .untouched)
    }

    private func confirmed(
        _ new: StoredHTTPResponse, _ hop: HTTPHop, _ reason: HTTPCacheReason, _ storage: HTTPStorage, _ now: Int64
    ) -> CachedHTTPResponse {
        let age = configuration.policy.freshness(of: new, now: now).age
        return CachedHTTPResponse(new, age: age, to: hop.request.method, .validated, reason, storage)
    }

    private func unavailable(_ hop: HTTPHop, _ mode: HTTPCacheMode, _ reason: HTTPCacheReason) throws -> CachedHTTPResponse {
        guard mode != .cacheOnly else {
            counts.withLock { $0.unavailable += 1 }
            throw HTTPClientError.notCached("\(hop.url): \(reason)")
        }
        return CachedHTTPResponse(
            response: HTTPResponse(status: .gatewayTimeout), body: [], url: hop.url.description, source: .none, reason: reason,
            storage: .untouched, verified: nil)
    }

    private func fly(
        _ hop: HTTPHop, _ mode: HTTPCacheMode, key: FlightTable.Key?
    ) async throws -> (result: CachedHTTPResponse, wasThere: Bool) {
        let (flight, wasThere) = flights.enter(key, url: hop.url) { [self] flight in try await load(hop, mode, flight) }
        return (try await flights.outcome(of: flight), wasThere)
    }

    /// Asks the origin for later callers; if that fails, the next caller's request reports why.
    private func revalidate(_ hop: HTTPHop, _ mode: HTTPCacheMode) {
        _ = flights.enter(FlightTable.Key(request: hop.request, mode: mode), url: hop.url, isKept: true) { [self] flight in
            do {
                return try await load(hop, mode, flight)
            } catch {
                configuration.logger.info("a background request failed", metadata: ["url": "\(hop.url)", "error": "\(error)"])
                throw error
            }
        }
    }

    /// Runs the flight. It checks the store again, since another flight may have ended after the caller's check.
    private func load(_ hop: HTTPHop, _ mode: HTTPCacheMode, _ flight: UInt64) async throws -> CachedHTTPResponse {
        let isCached = hop.request.method == .get || hop.request.method == .head
        let stored = isCached ? await repository.response(for: hop.request, at: hop.url) : nil
        let now = now
        switch configuration.policy.decision(for: hop.request, stored: stored, mode: mode, now: now) {
        case .serve(let reason):
            guard let stored else { return try await ask(hop, nil, [:], .notStored, flight) }
            return served(stored, hop, reason, now)
        case .unavailable(let reason): return try unavailable(hop, mode, reason)
        case .load(let conditions, let reason), .serveAndRevalidate(let conditions, let reason):
            return try await ask(hop, stored, conditions, reason, flight)
        }
    }

    /// Asks the origin.
    private func ask(
        _ hop: HTTPHop, _ stored: StoredHTTPResponse?, _ conditions: HTTPFields, _ reason: HTTPCacheReason, _ flight: UInt64
    ) async throws -> CachedHTTPResponse {
        let sent = now
        let outcome = await transport.reply(to: description(of: hop, conditions))
        let came = now
        let reply: HTTPReply
        switch outcome {
        case .success(let success): reply = success
        case .failure(let error):
            try Task.checkCancellation()
            counts.withLock { $0.failed += 1 }
            if let stored, error.isOriginFailure,
                let reason = configuration.policy.staleOnError(stored, for: hop.request, error: error.description, now: came)
            {
                return served(stored, hop, reason, came)
            }
            throw HTTPClientError(error, timeout: configuration.timeout)
        }
        let response = HTTPResponse(status: HTTPResponse.Status(code: reply.status), headerFields: reply.fields)
        for url in configuration.policy.invalidations(by: hop.request, url: hop.url, response) {
            await store("outdated responses cannot be removed") { try await self.outdate(url) }
        }
        let answer = configuration.policy.answer(
            to: hop.request, url: hop.url, response, reply.body, stored: stored, isConditional: !conditions.isEmpty, requestTime: sent,
            responseTime: came)
        let passed = { (storage: HTTPStorage) in
            CachedHTTPResponse(
                response: response, body: reply.body, url: hop.url.description, source: .network, reason: reason, storage: storage,
                verified: Date(milliseconds: came))
        }
        switch answer {
        case .store(let new): return passed(await keep(new, as: .stored, flight))
        case .passAndFreshen(let new): return passed(await keep(new, as: .freshened, replacing: stored?.selection, flight))
        case .freshen(let new):
            return confirmed(new, hop, reason, await keep(new, as: .freshened, replacing: stored?.selection, flight), came)
        case .confirmAndRemove(let new, let refusal):
            await removeUnlessOutdated(hop.url, flight)
            return confirmed(new, hop, reason, .refused(refusal), came)
        case .serveConfirmed:
            guard let stored else { return passed(.untouched) }
            return confirmed(stored, hop, reason, .untouched, came)
        case .serveStale(let reason):
            guard let stored else { return passed(.untouched) }
            return served(stored, hop, reason, came)
        case .pass(let refusal, let removesStored):
            if removesStored { await removeUnlessOutdated(hop.url, flight) }
            return passed(.refused(refusal))
        case .repeatWithoutConditions: return try await ask(hop, stored, [:], .validationMismatch, flight)
        }
    }

    private func description(of hop: HTTPHop, _ conditions: HTTPFields) -> HTTPRequestDescription {
        var fields = hop.request.headerFields
        for field in conditions { fields[fields: field.name] = [field] }
        return HTTPRequestDescription(
            method: hop.request.method, url: hop.url.description, fields: fields, body: hop.body, timeout: configuration.timeout,
            maximumResponseSize: max(1, configuration.maximumContentSize))
    }
}

// MARK: Writing to the store, one operation at a time for each URL

extension CachingHTTPClient {
    /// Stores a response, unless the URL was outdated while the request was in flight.
    /// - Parameter selection: the variant that it was until now, if it has been freshened.
    private func keep(
        _ response: StoredHTTPResponse, as success: HTTPStorage, replacing selection: VarySelection? = nil, _ flight: UInt64
    ) async -> HTTPStorage {
        var result = HTTPStorage.refused(.outdated)
        let failure = await store("a response cannot be stored") { [self] in
            try await turns.perform(for: response.url) {
                guard !self.flights.isOutdated(flight) else { return false }
                try await self.repository.keep(response, replacing: selection)
                return true
            }
        }
        switch failure {
        case .success(true):
            result = success
            counts.withLock { $0.stored += 1 }
        case .success(false): break
        case .failure(let error): result = .refused(.storeFailed("\(error)"))
        }
        return result
    }

    private func removeUnlessOutdated(_ url: HTTPURL, _ flight: UInt64) async {
        await store("an outdated response cannot be removed") { [self] in
            try await turns.perform(for: url) {
                guard !self.flights.isOutdated(flight) else { return }
                try await self.repository.remove(url)
            }
        }
    }

    /// Removes a URL, and prevents responses in flight to it from being stored.
    func outdate(_ url: HTTPURL) async throws {
        flights.outdate { $0 == url }
        try await turns.perform(for: url) { try await self.repository.remove(url) }
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
        case .tls, .tooLarge, .aborted, .invalidRequest: false
        }
    }
}
