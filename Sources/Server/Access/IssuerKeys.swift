import FreshetTrust
import Logging
import Synchronization

/// The keys of one issuer: those of a file, or those of a URL, which are fetched when a token needs them.
///
/// Safe to use from any thread. The decisions are those of ``KeySetCache``.
final class IssuerKeys: Sendable {
    typealias Completion = @Sendable (Result<KeySet, KeySetCache.Refusal>) -> Void

    private struct State {
        var cache = KeySetCache()
        /// The requests that wait, at most ``KeySetCache/maximumWaiting`` and those of this moment.
        var waiting: [UInt64: Completion] = [:]
        var last: UInt64 = 0
        /// Why keys of the last set are not used.
        var skipped: [String] = []
    }

    let source: AccessPolicy.KeySource
    private let issuer: String
    private let fetch: KeyFetch
    /// Monotonic milliseconds.
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private let state = Mutex(State())

    init(
        _ source: AccessPolicy.KeySource, of issuer: String, by fetch: @escaping KeyFetch, now: @escaping @Sendable () -> Int64,
        _ logger: Logger
    ) {
        (self.source, self.issuer, self.fetch, self.now, self.logger) = (source, issuer, fetch, now, logger)
        if case .fixed(let keys) = source { warn(of: keys) }
    }

    /// Whether these keys may be used for an issuer of another policy.
    func serve(_ source: AccessPolicy.KeySource, of issuer: String) -> Bool {
        guard case .url(let own) = self.source, case .url(let other) = source else { return false }
        return own == other && self.issuer == issuer
    }

    /// The fetches that failed since the last one that succeeded.
    var failures: Int { state.withLock { $0.cache.failures } }

    /// Calls the completion with the keys for a token of this `alg` and `kid`: at once, or from another thread within
    /// ``KeySetCache/wait``, give or take the server's tick.
    func need(_ algorithm: SignatureAlgorithm, _ keyID: String?, then completion: @escaping Completion) {
        if case .fixed(let keys) = source { return completion(.success(keys)) }
        perform(
            state.withLock { state in
                state.last += 1
                state.waiting[state.last] = completion
                return state.cache.need(request: state.last, algorithm, keyID, at: now())
            })
    }

    /// The keys that there are, without a fetch; `nil` if there are none.
    var held: KeySet? {
        if case .fixed(let keys) = source { return keys }
        return state.withLock { $0.cache.usable(at: now()) }
    }

    /// Fetches the keys again, since an operator may want withdrawn ones to be refused. Requests wait for it as they do for
    /// the first fetch; if it fails, the former keys stay in use.
    func refresh() {
        guard case .url = source else { return }
        let now = now()
        perform(state.withLock { $0.cache.refresh(at: now) })
    }

    /// Notes that a token's signature did not match, so that keys that were replaced under their `kid`, or without one, are
    /// fetched. The token is refused meanwhile.
    func noteBadSignature() {
        guard case .url = source else { return }
        let now = now()
        perform(state.withLock { $0.cache.suspect(at: now) })
    }

    /// Ends the waits whose time has come. To be called some times a second.
    func tick() {
        let now = now()
        perform(state.withLock { state in state.cache.nextTick.map { $0 <= now } == true ? state.cache.tick(at: now) : [] })
    }

    /// Refuses all that waits, since another policy has replaced these keys.
    func end() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        for completion in waiting.values { completion(.failure(.unavailable)) }
    }

    private func perform(_ actions: [KeySetCache.Action]) {
        for action in actions {
            switch action {
            case .fetch(let attempt):
                guard case .url(let url) = source else { continue }
                fetch(url) { [self] in fetched($0, attempt) }
            case .answer(let request, let keys): take(request)?(.success(keys))
            case .refuse(let request, let refusal): take(request)?(.failure(refusal))
            }
        }
    }

    private func take(_ request: UInt64) -> Completion? { state.withLock { $0.waiting.removeValue(forKey: request) } }

    private func fetched(_ result: Result<KeyDocument, KeyFetchFailure>, _ attempt: Int) {
        do {
            let document = try result.get()
            let keys = try KeySet(jwks: document.bytes, allowsSecrets: false)
            warn(of: keys)
            if keys.keys.isEmpty { warn("the issuer has no usable keys, and the former ones stay in force", "the key set has none") }
            perform(state.withLock { $0.cache.fetched(keys, maxAge: document.maximumAge, attempt: attempt, at: now()) })
        } catch {
            warn("the keys of an issuer could not be fetched, and the former ones stay in force", "\(error)")
            perform(state.withLock { $0.cache.failed(attempt: attempt, at: now()) })
        }
    }

    /// Logs why keys are not used, unless the last set left out the same ones: a set is fetched again and again.
    private func warn(of keys: KeySet) {
        let isKnown = state.withLock { state in
            defer { state.skipped = keys.skipped }
            return state.skipped == keys.skipped
        }
        guard !isKnown else { return }
        for reason in keys.skipped { warn("a key of the issuer is not used", reason) }
    }

    private func warn(_ message: Logger.Message, _ reason: String) {
        logger.warning(message, metadata: ["issuer": "\(issuer)", "reason": "\(reason)"])
    }
}

/// Fetches the document of a URL, and calls the completion once, from any thread. It follows no redirect, reads at most
/// ``KeySet/maximumBytes``, and ends within half a minute.
package typealias KeyFetch =
    @Sendable (_ url: String, _ completion: @escaping @Sendable (Result<KeyDocument, KeyFetchFailure>) -> Void) -> Void

/// The JWK Set of a URL, as it was received.
package struct KeyDocument: Sendable {
    package let bytes: [UInt8]
    /// The `max-age` of its `Cache-Control`, in milliseconds; `nil` if it states none.
    package let maximumAge: Int64?

    package init(_ bytes: [UInt8], maximumAge: Int64?) { (self.bytes, self.maximumAge) = (bytes, maximumAge) }
}

/// Why a document was not received.
package struct KeyFetchFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
