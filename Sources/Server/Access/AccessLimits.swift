import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import Synchronization

/// Counts the requests and waits of addresses and principals. Safe to use from any thread.
final class AccessLimits: Sendable {
    private struct State {
        var quotas: Quotas
        var requests: RequestLimits<ClientAddress>
        /// `nil` if waits are not limited.
        var waits: WaitCounts?

        init(_ quotas: Quotas) {
            self.quotas = quotas
            requests = RequestLimits(quotas)
            waits = quotas.principal.waits.map(WaitCounts.init)
        }
    }

    private let state: Mutex<State>
    /// Whether the requests and waits of principals are counted, so that no lock is taken otherwise.
    private let hasRates: Atomic<Bool>
    private let hasWaits: Atomic<Bool>
    private let environment: ServerEnvironment
    /// Requests that were refused for a rate, or as one wait too many.
    let refused = Counter()

    init(_ quotas: Quotas, environment: ServerEnvironment) {
        state = Mutex(State(quotas))
        hasRates = Atomic(quotas.principal.hasRates)
        hasWaits = Atomic(quotas.principal.waits != nil)
        self.environment = environment
    }

    /// Takes other quotas. Equal ones leave the counts as they are.
    func set(_ quotas: Quotas) {
        state.withLock { if $0.quotas != quotas { $0 = State(quotas) } }
        hasRates.store(quotas.principal.hasRates, ordering: .relaxed)
        hasWaits.store(quotas.principal.waits != nil, ordering: .relaxed)
    }

    /// Counts a request without a valid credential.
    /// - Parameter client: `nil` if the rates of addresses do not apply to it.
    func countAnonymous(_ client: ClientAddress?) throws(RateRefusal) {
        guard let client else { return }
        try refuse(state.withLock { $0.requests.beginAnonymous(from: client, at: now) })
    }

    /// Refuses a credential without a session if its address has sent too many that were refused.
    func beginVerification(from client: ClientAddress?) throws(RateRefusal) {
        guard let client else { return }
        try refuse(state.withLock { $0.requests.beginVerification(from: client, at: now) })
    }

    /// Counts a credential that was refused.
    func noteFailure(from client: ClientAddress?) {
        guard let client else { return }
        state.withLock { $0.requests.noteFailure(from: client, at: now) }
    }

    /// Counts a request of a session by the rates of its principal. Requests without a credential have those of their
    /// address.
    func count(_ session: AccessSession, writes: Int, bytes: Int) throws(RateRefusal) {
        guard hasRates.load(ordering: .relaxed), session.credential != nil else { return }
        try refuse(state.withLock { $0.requests.begin(of: session.value.principal, writes: writes, bytes: bytes, at: now) })
    }

    /// Counts the writes of a batch, whose request is counted already.
    func count(_ session: AccessSession, writesOfBatch count: Int) throws(RateRefusal) {
        guard hasRates.load(ordering: .relaxed), session.credential != nil else { return }
        try refuse(state.withLock { $0.requests.beginWrites(count, of: session.value.principal, at: now) })
    }

    /// The session of a request that is about to wait. It counts as a wait of its principal until it is released.
    func waiting(_ session: AccessSession) throws(Problem) -> AccessSession {
        guard hasWaits.load(ordering: .relaxed), session.credential != nil, let waits = state.withLock({ $0.waits }) else { return session }
        guard let permit = waits.permit(session.value.principal) else {
            refused.add()
            throw AccessProblem.waits
        }
        return AccessSession(session.value, session.credential, generation: session.generation, permit)
    }

    private var now: Int64 { environment.monotonicNanoseconds() / 1_000_000 }

    private func refuse(_ excess: RateExcess?) throws(RateRefusal) {
        guard let excess else { return }
        refused.add()
        throw RateRefusal(excess: excess)
    }
}
