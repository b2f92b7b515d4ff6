internal import FreshetTransport
internal import FreshetWire
internal import HTTPTypes

extension Engine {
    func send(_ request: RequestDescription) {
        requests[request.id] = .some(nil)
        // Counted from the time of the decision, as for the watchdog: the live period ends with the watchdog's
        // deadline, even if that fires late.
        if case .changes = request.kind, let decided = machine?.lastEvent { memory.liveUntil = decided + request.timeout }
        guard let token = settings.token else { return transmit(request, token: nil) }
        // The user's closure may take long, and use any thread: it is called outside of the queue.
        Task.detached { [weak self, run] in
            do {
                let timeout = Duration.milliseconds(request.timeout)
                let text = try await Self.bearerToken(from: token, needsFreshToken: request.needsFreshToken, within: timeout)
                await self?.transmit(request, token: text, of: run)
            } catch {
                await self?.receive(.failure(.unreachable("\(error)")), for: request.id, of: run)
            }
        }
    }

    /// Returns the bearer token that the app's closure gives within the time. A closure that takes longer is cancelled, and not waited
    /// for: it may ignore that.
    private nonisolated static func bearerToken(
        from closure: @escaping @Sendable (Bool) async throws -> String?, needsFreshToken: Bool, within timeout: Duration
    ) async throws(ClientError) -> String? {
        // The first result counts, of the closure or of the timer.
        let (results, first) = AsyncStream.makeStream(of: Result<String?, ClientError>.self, bufferingPolicy: .bufferingOldest(1))
        let asking = Task.detached {
            do { first.yield(.success(try await closure(needsFreshToken))) } catch { first.yield(.failure(.noToken("\(error)"))) }
        }
        let timer = Task.detached {
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            first.yield(.failure(.noToken("it gave none within \(timeout.wholeMilliseconds) ms")))
        }
        defer {
            asking.cancel()
            timer.cancel()
        }
        for await result in results { return try result.get() }
        throw .noToken("\(CancellationError())")
    }

    func cancel(_ id: RequestID) {
        guard let number = requests.removeValue(forKey: id) else { return }
        if let number { transport.cancel(number) }
    }

    private func transmit(_ request: RequestDescription, token: String?, of run: Int) {
        guard run == self.run else { return }
        transmit(request, token: token)
    }

    private func transmit(_ request: RequestDescription, token: String?) {
        // Cancelled while its token was requested?
        guard requests[request.id] != nil else { return }
        if let token, !Self.isToken(token) {
            let text = ClientError.noToken("it gave a text that cannot stand in a field: visible ASCII only").description
            return receive(.failure(.unreachable(text)), for: request.id, of: run)
        }
        tokenRights.use(token)
        requests[request.id] = transport.send(settings.requests.encode(request, token: token)) { [weak self, run] outcome in
            // On the engine's thread, between its jobs.
            self?.assumeIsolated {
                let decoded = ReplyDecoder.decode(outcome, for: request.kind)
                $0.receive(decoded.reply, decoded.lastWrite, decoded.store, age: decoded.age, for: request.id, of: run)
            }
        }
    }

    private func receive(
        _ reply: Reply, _ lastWrite: Int64? = nil, _ store: StoreIdentifier? = nil, age: Int64 = 0, for id: RequestID,
        of run: Int
    ) {
        guard run == self.run, requests.removeValue(forKey: id) != nil else { return }
        noteRights(reply)
        submit(.replied(id, reply, lastWrite: lastWrite, store: store, age: age))
    }

    /// Visible ASCII, so that no character ends the field.
    private static func isToken(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    // MARK: Requests outside of the machine

    /// Sends a request under the server's address and returns the response, whatever its status. After a refused token
    /// it repeats the request once with a fresh one.
    nonisolated func exchange(_ method: HTTPRequest.Method, _ path: String, json: [UInt8]) async throws -> HTTPReply {
        let reply = try await exchangeOnce(method, path, json, needsFreshToken: false)
        guard reply.status == 401, settings.token != nil else { return reply }
        return try await exchangeOnce(method, path, json, needsFreshToken: true)
    }

    private nonisolated func exchangeOnce(
        _ method: HTTPRequest.Method, _ path: String, _ json: [UInt8], needsFreshToken: Bool
    ) async throws -> HTTPReply {
        var timeout = settings.requestTimeout
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var text: String?
        if let token = settings.token { text = try await Self.bearerToken(from: token, needsFreshToken: needsFreshToken, within: timeout) }
        timeout = max(ContinuousClock.now.duration(to: deadline), .milliseconds(1))
        guard text.map(Self.isToken) ?? true else { throw ClientError.noToken("it gave a text that cannot stand in a field") }
        switch try await outcome(of: settings.requests.request(method, path, text, timeout, json: json)) {
        case .success(let reply): return reply
        case .failure(.aborted): throw ClientError.unreachable("the connection was closed")
        case .failure(let error): throw ClientError.unreachable(error.description)
        }
    }

    private func outcome(of request: HTTPRequestDescription) async throws -> Result<HTTPReply, TransportError> {
        _ = try running()
        // A store that the machine has refused gets no user request either.
        if case .otherStore? = status.feedError, let error = status.feedError { throw error }
        let run = run
        let outcome = await withCheckedContinuation { continuation in transport.send(request) { continuation.resume(returning: $0) } }
        guard case .failure(.aborted) = outcome else { return outcome }
        // Either the client was stopped, or its connections were closed.
        _ = try running()
        guard run == self.run else { throw ClientError.stopped }
        return outcome
    }
}
