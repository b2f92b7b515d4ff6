import FreshetPlatform
import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes
import Synchronization

/// Why a request is refused for its rate: `429`, and nothing was done.
struct RateRefusal: Error {
    let excess: RateExcess

    var problem: Problem {
        let rate = excess.decision.rate
        return Problem(
            .tooManyRequests,
            "The limit of '\(excess.name)' is \(rate.count) in \(rate.period) ms. Send it again after Retry-After.")
    }
}

extension Response {
    /// The response with the fields that state the rate (draft-ietf-httpapi-ratelimit-headers).
    init(_ refusal: RateRefusal, at cursor: Cursor?) {
        self.init(refusal.problem, at: cursor, retryAfter: Int(refusal.excess.decision.retryAfter))
        fields.append(.rateLimit, refusal.excess.fields.limit)
        fields.append(.rateLimitPolicy, refusal.excess.fields.policy)
    }
}

/// The waits of each principal.
final class WaitCounts: Sendable {
    private let counts: Mutex<CountLimiter<Principal>>

    init(limit: Int) { counts = Mutex(CountLimiter(limit)) }

    /// `nil` if the principal has as many waits as it may.
    func permit(_ principal: Principal) -> Permit? {
        guard counts.withLock({ $0.acquire(principal) }) else { return nil }
        return Permit(self, principal)
    }

    /// A wait, which counts until it is released.
    final class Permit: Sendable {
        private let owner: WaitCounts
        private let principal: Principal

        fileprivate init(_ owner: WaitCounts, _ principal: Principal) { (self.owner, self.principal) = (owner, principal) }

        deinit { owner.counts.withLock { $0.release(principal) } }
    }
}
