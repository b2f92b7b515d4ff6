/// The keys of an issuer that publishes them at a URL: decides when to fetch them, and which requests wait for it.
///
/// A value without effects: each function takes the time and returns the actions that a shell performs. Times are
/// milliseconds of a clock that never goes back. All fetches are at least ``cooldown`` apart, so that tokens with
/// unknown keys cause no more; that of ``refresh(at:)``, which an operator causes, begins at once. A failed fetch or a miss
/// removes no key.
package struct KeySetCache: Sendable {
    /// The least time between the starts of two fetches.
    package static let cooldown: Int64 = 10_000
    /// How long a request waits for a fetch.
    package static let wait: Int64 = 2_000
    /// The limits of a document's `max-age`.
    package static let ages: ClosedRange<Int64> = 60_000...86_400_000
    /// The `max-age` of a document that states none.
    package static let defaultAge: Int64 = 600_000
    /// How long keys stay valid beyond their `max-age` while no fetch succeeds.
    package static let staleIfError: Int64 = 86_400_000
    /// A fetch without a result has failed by then.
    package static let fetchLimit: Int64 = 30_000
    /// The most requests that wait.
    package static let maximumWaiting = 1_000

    package enum Action: Sendable {
        /// Fetch the document, and report the result with this number.
        case fetch(attempt: Int)
        /// Verify the token of this request with these keys.
        case answer(request: UInt64, KeySet)
        case refuse(request: UInt64, Refusal)
    }

    package enum Refusal: Error, Hashable, Sendable {
        /// The issuer has no such key: 401.
        case unknownKey
        /// The issuer's keys are not known, since no fetch has succeeded: 503.
        case unavailable
    }

    private struct Waiter: Sendable {
        let request: UInt64
        let algorithm: SignatureAlgorithm
        let keyID: String?
        let deadline: Int64
    }

    private struct Held: Sendable {
        let keys: KeySet
        let fetched: Int64
        let age: Int64
        /// Whether an operator has asked for another fetch, before the age ends.
        var isOutdated = false

        private var ageEnd: Int64 { fetched + age }
        var freshUntil: Int64 { isOutdated ? .min : ageEnd }
        /// Before they are stale, so that no request waits if the issuer answers.
        var refreshFrom: Int64 { fetched + age / 4 * 3 }
        var usableUntil: Int64 { ageEnd + staleIfError }
    }

    private var held: Held?
    private var fetch: (attempt: Int, started: Int64)?
    private var attempts = 0
    private var lastStart: Int64?
    /// In the order of their deadlines.
    private var waiting: [Waiter] = []
    /// The fetches that failed since the last one that succeeded, for a metric.
    package private(set) var failures = 0

    package init() {}

    /// When the held keys were fetched, for a metric.
    package var fetched: Int64? { held?.fetched }

    /// The keys that there are, fresh or not; `nil` if there are none, if they are too old, or while they are fetched again
    /// for an operator.
    package func usable(at now: Int64) -> KeySet? {
        held.flatMap { now < $0.usableUntil && !($0.isOutdated && fetch != nil) ? $0.keys : nil }
    }

    /// When ``tick(at:)`` has to be called next; `nil` while nothing is due.
    package var nextTick: Int64? {
        let limit = fetch.map { $0.started + Self.fetchLimit }
        return [waiting.first?.deadline, limit].compactMap { $0 }.min()
    }

    /// A request has a token of this `alg` and `kid`. It receives one answer or refusal: now, or within ``wait``.
    package mutating func need(request: UInt64, _ algorithm: SignatureAlgorithm, _ keyID: String?, at now: Int64) -> [Action] {
        let waiter = Waiter(request: request, algorithm: algorithm, keyID: keyID, deadline: now + Self.wait)
        if let held, now < held.freshUntil, held.keys.has(algorithm, keyID) {
            return (now < held.refreshFrom ? [] : startFetch(at: now)) + [.answer(request: request, held.keys)]
        }
        let actions = startFetch(at: now)
        guard fetch != nil, waiting.count < Self.maximumWaiting else { return actions + [decide(waiter, at: now)] }
        waiting.append(waiter)
        return actions
    }

    /// The fetch has brought a set.
    /// - Parameter maxAge: of its `Cache-Control`, in milliseconds.
    package mutating func fetched(_ keys: KeySet, maxAge: Int64?, attempt: Int, at now: Int64) -> [Action] {
        guard fetch?.attempt == attempt else { return [] }
        // A set without usable keys would refuse every token: more likely a fault of the issuer than its intention.
        guard !keys.keys.isEmpty else { return failed(attempt: attempt, at: now) }
        let age = min(max(maxAge ?? Self.defaultAge, Self.ages.lowerBound), Self.ages.upperBound)
        held = Held(keys: keys, fetched: now, age: age)
        failures = 0
        return end(at: now)
    }

    /// The fetch has failed, or brought no key set.
    package mutating func failed(attempt: Int, at now: Int64) -> [Action] {
        guard fetch?.attempt == attempt else { return [] }
        failures += 1
        return end(at: now)
    }

    /// The time has come that ``nextTick`` states.
    package mutating func tick(at now: Int64) -> [Action] {
        if let fetch, now >= fetch.started + Self.fetchLimit { return failed(attempt: fetch.attempt, at: now) }
        let due = waiting.prefix { $0.deadline <= now }
        waiting.removeFirst(due.count)
        return due.map { decide($0, at: now) }
    }

    /// An operator has asked for the present keys: the issuer may have withdrawn some. Fetches them at once, if there are
    /// any, and requests wait for it as if there were none. If it fails, the held keys stay in use.
    package mutating func refresh(at now: Int64) -> [Action] {
        guard held != nil || fetch != nil else { return [] }
        held?.isOutdated = true
        // The result of one that has begun earlier may be of earlier keys.
        (fetch, lastStart) = (nil, nil)
        return startFetch(at: now)
    }

    /// A signature did not match these keys: the issuer may have another key under the same `kid`, or without one. Starts a
    /// fetch, unless one has begun within ``cooldown``.
    package mutating func suspect(at now: Int64) -> [Action] { startFetch(at: now) }

    private mutating func startFetch(at now: Int64) -> [Action] {
        guard fetch == nil, lastStart.map({ now >= $0 + Self.cooldown }) ?? true else { return [] }
        attempts += 1
        fetch = (attempts, now)
        lastStart = now
        return [.fetch(attempt: attempts)]
    }

    private mutating func end(at now: Int64) -> [Action] {
        fetch = nil
        let waiters = waiting
        waiting = []
        return waiters.map { decide($0, at: now) }
    }

    /// With the keys that there are.
    private func decide(_ waiter: Waiter, at now: Int64) -> Action {
        guard let held, now < held.usableUntil else { return .refuse(request: waiter.request, .unavailable) }
        guard held.keys.has(waiter.algorithm, waiter.keyID) else { return .refuse(request: waiter.request, .unknownKey) }
        return .answer(request: waiter.request, held.keys)
    }
}
