package import FreshetPlatform

/// The rates of requests, by address until a session is known, and by principal then. Times are milliseconds of a clock
/// that never goes back. `Address` identifies a client without a session; one IPv6 network of 64 bits has to be one
/// client, since a host may use all of its addresses.
package struct RequestLimits<Address: Hashable & Sendable>: Sendable {
    private var unauthenticated: RateLimiter<Address>
    private var failures: RateLimiter<Address>
    private var requests: RateLimiter<Principal>
    private var writes: RateLimiter<Principal>
    private var bytes: RateLimiter<Principal>

    /// - Parameter maximumKeys: the most addresses, and the most principals, that each limit remembers.
    package init(_ quotas: Quotas, maximumKeys: Int = 65_536) {
        unauthenticated = RateLimiter(quotas.address.unauthenticated, limit: maximumKeys)
        failures = RateLimiter(quotas.address.failures, limit: maximumKeys)
        requests = RateLimiter(quotas.principal.requests, limit: maximumKeys)
        writes = RateLimiter(quotas.principal.writes, limit: maximumKeys)
        bytes = RateLimiter(quotas.principal.bytes, limit: maximumKeys)
    }

    /// A request without a credential.
    /// - Returns: the rate that refuses it; `nil` if it is counted and may continue.
    package mutating func beginAnonymous(from address: Address, at now: Int64) -> RateExcess? {
        if let excess = Self.excess("unauthenticated", unauthenticated.decision(1, for: address, at: now)) { return excess }
        unauthenticated.use(1, for: address, at: now)
        return nil
    }

    /// A credential without a session, before it is verified. It is counted only if it is refused
    /// (``noteFailure(from:at:)``): many devices may connect at once from one address.
    package mutating func beginVerification(from address: Address, at now: Int64) -> RateExcess? {
        Self.excess("failures", failures.decision(1, for: address, at: now))
    }

    /// Counts a credential that was refused.
    package mutating func noteFailure(from address: Address, at now: Int64) { failures.use(1, for: address, at: now) }

    /// A request of a session. It is counted by all limits or by none.
    /// - Parameters:
    ///   - writes: the writes in it.
    ///   - bytes: the size of its body.
    package mutating func begin(of principal: Principal, writes count: Int, bytes size: Int, at now: Int64) -> RateExcess? {
        let (count, size) = (Int64(count), Int64(size))
        if let excess = Self.excess("requests", requests.decision(1, for: principal, at: now)) { return excess }
        if count > 0, let excess = Self.excess("writes", writes.decision(count, for: principal, at: now)) { return excess }
        if size > 0, let excess = Self.excess("bytes", bytes.decision(size, for: principal, at: now)) { return excess }
        requests.use(1, for: principal, at: now)
        writes.use(count, for: principal, at: now)
        bytes.use(size, for: principal, at: now)
        return nil
    }

    /// The writes of a batch, whose request was counted before they were known.
    package mutating func beginWrites(_ count: Int, of principal: Principal, at now: Int64) -> RateExcess? {
        if let excess = Self.excess("writes", writes.decision(Int64(count), for: principal, at: now)) { return excess }
        writes.use(Int64(count), for: principal, at: now)
        return nil
    }

    private static func excess(_ name: String, _ decision: RateDecision?) -> RateExcess? {
        guard let decision, !decision.isAllowed else { return nil }
        return RateExcess(name: name, decision: decision)
    }
}

/// A rate that refuses a request: 429, and nothing was done.
package struct RateExcess: Hashable, Sendable {
    /// The rate's name in the configuration.
    package let name: String
    package let decision: RateDecision

    /// The values of `RateLimit` and `RateLimit-Policy`.
    package var fields: (limit: String, policy: String) { (decision.limitField(name), decision.policyField(name)) }
}
