internal import HTTPTypes
internal import Synchronization

/// The requests in flight, so that identical requests share one. Safe from any thread; no continuation is resumed
/// under its lock.
///
/// Each participant of a request waits separately: one that is cancelled leaves, and the others continue. When the last
/// has left, the request is cancelled, unless it is kept for the cache itself.
final class InFlightRequests: Sendable {
    /// The fields that make two requests identical.
    struct Key: Hashable, Sendable {
        let request: HTTPRequest
        let mode: HTTPCacheMode
    }

    typealias Outcome = Result<CachedHTTPResponse, any Error>

    private struct InFlightRequest {
        let key: Key?
        let url: HTTPURL
        /// The number of participants that have not left.
        var waiterCount: Int
        var isKept: Bool
        /// Whether its response may no longer be stored.
        var isOutdated = false
        var outcome: Outcome?
        var waiters: [UInt64: CheckedContinuation<CachedHTTPResponse, any Error>] = [:]
        /// Waiters that were cancelled before they began to wait.
        var gone: Set<UInt64> = []
        var task: Task<Void, Never>?
    }

    private struct State {
        var flights: [UInt64: InFlightRequest] = [:]
        var byKey: [Key: UInt64] = [:]
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last += 1
            return last
        }
    }

    private let state = Mutex(State())

    /// Joins the request of the key, or starts it if there is none; a request without a key is never shared.
    ///
    /// - Parameters:
    ///   - isKept: whether it continues without participants. Then the caller does not take part.
    ///   - body: performs the request; gets the request's number.
    /// - Returns: the number, and whether the request existed already.
    func enter(
        _ key: Key?, url: HTTPURL, isKept: Bool = false, _ body: @escaping @Sendable (UInt64) async throws -> CachedHTTPResponse
    ) -> (flight: UInt64, wasThere: Bool) {
        let (id, wasThere) = state.withLock { state in
            if let key, let id = state.byKey[key], state.flights[id] != nil {
                if isKept { state.flights[id]?.isKept = true } else { state.flights[id]?.waiterCount += 1 }
                return (id, true)
            }
            let id = state.number()
            state.flights[id] = InFlightRequest(key: key, url: url, waiterCount: isKept ? 0 : 1, isKept: isKept)
            if let key { state.byKey[key] = id }
            return (id, false)
        }
        guard !wasThere else { return (id, true) }
        let task = Task {
            do {
                finish(id, .success(try await body(id)))
            } catch {
                finish(id, .failure(error))
            }
        }
        let isAbandoned = state.withLock { state in
            state.flights[id]?.task = task
            return state.flights[id].map { $0.waiterCount == 0 && !$0.isKept } ?? false
        }
        if isAbandoned { task.cancel() }
        return (id, false)
    }

    /// Waits for the outcome of a request in which the caller takes part, and leaves the request.
    ///
    /// - Throws: the request's error, or `CancellationError` when the caller's task is cancelled.
    func outcome(of id: UInt64) async throws -> CachedHTTPResponse {
        let waiter = state.withLock { $0.number() }
        defer { leave(id) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Outcome? = state.withLock { state in
                    if let outcome = state.flights[id]?.outcome { return outcome }
                    if state.flights[id]?.gone.remove(waiter) != nil { return .failure(CancellationError()) }
                    state.flights[id]?.waiters[waiter] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.flights[id]?.waiters.removeValue(forKey: waiter)
                if continuation == nil { state.flights[id]?.gone.insert(waiter) }
                return continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Prevents the responses of requests from being stored, and from being shared with later callers.
    /// - Parameter isOutdated: whether to outdate requests to that URL. It runs under the table's lock.
    func outdate(where isOutdated: (HTTPURL) -> Bool) {
        state.withLock { state in
            for (id, flight) in state.flights where isOutdated(flight.url) {
                state.flights[id]?.isOutdated = true
                if let key = flight.key, state.byKey[key] == id { state.byKey[key] = nil }
            }
        }
    }

    /// The participants of all requests.
    var waiterCount: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiterCount } } }

    func isOutdated(_ id: UInt64) -> Bool { state.withLock { $0.flights[id]?.isOutdated ?? false } }

    /// Waits for all requests that are kept for the cache itself.
    func finishKept() async {
        let kept = state.withLock { state in
            let kept = state.flights.filter { $0.value.isKept && $0.value.outcome == nil }.keys.sorted()
            for id in kept { state.flights[id]?.waiterCount += 1 }
            return kept
        }
        // Their errors are logged where they occur.
        for id in kept { _ = try? await outcome(of: id) }
    }

    private func finish(_ id: UInt64, _ outcome: Outcome) {
        let waiters = state.withLock { state in
            guard let flight = state.flights[id] else { return [CheckedContinuation<CachedHTTPResponse, any Error>]() }
            if let key = flight.key, state.byKey[key] == id { state.byKey[key] = nil }
            if flight.waiterCount == 0 { state.flights[id] = nil }
            state.flights[id]?.outcome = outcome
            state.flights[id]?.waiters = [:]
            return Array(flight.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }

    private func leave(_ id: UInt64) {
        let task: Task<Void, Never>? = state.withLock { state in
            state.flights[id]?.waiterCount -= 1
            guard let flight = state.flights[id], flight.waiterCount == 0 else { return nil }
            guard flight.outcome == nil else {
                state.flights[id] = nil
                return nil
            }
            guard !flight.isKept else { return nil }
            if let key = flight.key, state.byKey[key] == id { state.byKey[key] = nil }
            return flight.task
        }
        task?.cancel()
    }
}
