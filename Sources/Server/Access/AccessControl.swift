import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes
import Logging
import Synchronization

/// Finds out who sends a request, and what that principal may do.
///
/// Safe to use from any thread. A credential is verified once and then found by its bytes; a revocation reaches every
/// session by its generation. A key is verified at once, a token on separate threads, since its signature takes up to 0.1 ms
/// and its issuer's keys may have to be fetched.
final class AccessControl: Sendable {
    /// How often a verification that a change of the policy has overtaken is repeated.
    private static let maximumTries = 3

    private let state: Mutex<AccessState>
    /// Counts the changes of keys, revocations and policies, so that a session in use is checked without the lock.
    private let generation = Atomic<UInt64>(0)
    let limits: AccessLimits
    private let environment: ServerEnvironment
    private let logger: Logger
    /// The day of the last call of ``noteTime()``.
    private let day: Atomic<Int64>
    /// Two threads, so that a flood of tokens leaves processors for the other work.
    private let verifications = ReadQueue(width: 2, limit: 4_096)
    /// Tokens whose signature was checked.
    let verified = Counter()

    /// - Parameter rows: all access rows of the store.
    init(_ policy: AccessPolicy, rows: AccessChanges, environment: ServerEnvironment, logger: Logger) {
        limits = AccessLimits(policy.quotas, environment: environment)
        self.environment = environment
        self.logger = logger
        let now = Self.now(environment)
        day = Atomic(Timestamp(milliseconds: now.wall).day)
        state = Mutex(AccessState(policy, Self.issuers(of: policy, environment, logger), rows, at: now))
    }

    private var now: TimeReading { Self.now(environment) }

    private static func now(_ environment: ServerEnvironment) -> TimeReading {
        TimeReading(wall: environment.wallMilliseconds(), monotonic: environment.monotonicNanoseconds() / 1_000_000)
    }

    // MARK: Policy

    var policy: AccessPolicy { state.withLock { $0.policy } }

    /// The hosts and origins of requests.
    var rules: AccessRules { state.withLock { $0.policy.rules } }

    /// The names of the issuers whose tokens are accepted.
    var issuers: [String] { state.withLock { $0.policy.verifier.issuers.map(\.name) } }

    /// Takes another policy. Each session is verified by it, and by keys that are fetched again, before it is used again.
    func set(_ policy: AccessPolicy) {
        // Before the sessions have to be verified, so that none of them is by the former keys.
        for issuer in state.withLock({ $0.issuers })
        where zip(policy.verifier.issuers, policy.sources).contains(where: { issuer.serve($1, of: $0.name) }) { issuer.refresh() }
        let replaced = state.withLock { state in
            let former = state.issuers
            state.issuers = Self.issuers(of: policy, environment, logger, reusing: former)
            state.policy = policy
            state.sessions.forgetRefusals()
            state.revocations.requireVerification()
            let kept = state.issuers
            return former.filter { issuer in !kept.contains { $0 === issuer } }
        }
        limits.set(policy.quotas)
        generation.add(1, ordering: .releasing)
        for issuer in replaced { issuer.end() }
    }

    /// The fetched keys of an issuer stay in use until they are fetched again.
    private static func issuers(
        of policy: AccessPolicy, _ environment: ServerEnvironment, _ logger: Logger, reusing former: [IssuerKeys] = []
    ) -> [IssuerKeys] {
        zip(policy.verifier.issuers, policy.sources).map { issuer, source in
            former.first { $0.serve(source, of: issuer.name) }
                ?? IssuerKeys(
                    source, of: issuer.name, by: policy.fetch, now: { environment.monotonicNanoseconds() / 1_000_000 }, logger)
        }
    }

    /// Ends the waits for issuers whose time has come. To be called some times a second.
    func tick() { for issuer in state.withLock({ $0.issuers }) { issuer.tick() } }

    /// The fetches of issuers' keys that failed since the last one of their issuer that succeeded.
    var fetchFailures: Int { state.withLock { $0.issuers }.reduce(0) { $0 + $1.failures } }

    /// Finishes the verifications that are in progress, and then calls the closure.
    func stop(then completion: @escaping @Sendable () -> Void) {
        for issuer in state.withLock({ $0.issuers }) { issuer.end() }
        verifications.stop(then: completion)
    }

    // MARK: Keys

    /// All keys, by id.
    var keys: [StoredKey] { state.withLock { $0.keys.all } }

    var hasRoom: Bool { state.withLock { $0.keys.hasRoom } }

    func key(_ id: KeyIdentifier) -> StoredKey? { state.withLock { $0.keys[id] } }

    // MARK: The store's rows

    /// The version of the store's access rows that the server has.
    var version: AccessVersion { state.withLock { $0.version } }

    /// Takes changes of the rows. Sessions are checked again before they are used.
    ///
    /// - Returns: whether sessions may have ended by it.
    func take(_ changes: AccessChanges) -> Bool {
        let now = now
        guard state.withLock({ $0.take(changes, at: now) }) else { return false }
        generation.add(1, ordering: .releasing)
        return true
    }

    // MARK: Revocations

    /// The revocations of tokens, the newest first.
    var revocations: [Revocation] { state.withLock { $0.revocations.all } }

    /// The revocation of a target, with all that was added to it.
    func revocation(of target: Revocation.Target) -> Revocation? { state.withLock { $0.revocations.revocation(of: target) } }

    /// Ends sessions from now on. Each session is checked again before it is used.
    func revoke(_ revocation: Revocation) throws(RevocationError) {
        let now = now
        let result = state.withLock { state in
            Result { () throws(RevocationError) in try state.revocations.add(revocation, at: now) }
        }
        _ = try result.get()
        generation.add(1, ordering: .releasing)
    }

    /// Whether the margin of a revocation or the overlap of a replaced secret has ended since the last call, so that waits
    /// have to end. To be called some times a second.
    func takeEndedGracePeriods() -> Bool {
        let now = now
        return state.withLock { $0.takeEndedGracePeriods(at: now) }
    }

    /// Removes the revocations whose tokens have all expired, and returns them.
    func removeExpiredRevocations(at now: WriteTime) -> [Revocation] { state.withLock { $0.removeExpiredRevocations(at: now) } }

    // MARK: Uses of keys

    /// Has each session looked up again on another day, so that the uses of keys are noted whose connections stay open. To be
    /// called some times a minute.
    func noteTime() {
        let today = Timestamp(milliseconds: environment.wallMilliseconds()).day
        if day.exchange(today, ordering: .relaxed) != today { generation.add(1, ordering: .releasing) }
    }

    /// The rows of the last uses that are not stored yet, each once; at most 1,000.
    func takeUnstoredUses() -> [AccessRow] { state.withLock { $0.takeUnstoredUses() } }

    // MARK: Sessions

    /// Finds the session of a request's credential.
    ///
    /// - Parameter credential: one that the request has in place of a field, or the refusal of that one.
    /// - Throws: `unauthorized`, with one text for every credential that the server does not know; ``RateRefusal`` if its
    ///   address has sent too many without a valid one.
    func sender(of request: Request, with credential: Result<Secret, Problem>? = nil) throws -> Sender {
        let client = client(of: request)
        let secret: Secret
        switch (credential, request[.authorization]) {
        case (.success(let credential)?, _): secret = credential
        case (.failure(let problem)?, _):
            try limits.beginVerification(from: client)
            limits.noteFailure(from: client)
            throw problem
        case (nil, let field?):
            guard let credential = BearerCredential.read(Array(field.utf8)) else {
                try limits.countAnonymous(client)
                throw AccessProblem.malformed
            }
            secret = Secret(credential)
        case (nil, nil):
            let certified = Result { try certificateSession(of: request) }
            if case .success(let session?) = certified { return .session(session) }
            try limits.countAnonymous(client)
            _ = try certified.get()
            return .session(try anonymousSession())
        }
        guard let session = try session(of: secret, from: client) else { return .unverified(secret, from: client) }
        return .session(session)
    }

    /// As ``sender(of:with:)``, for a request whose body has not arrived. One without a credential is counted here only if it is refused:
    /// it is counted when its body has arrived.
    func sender(ofPending request: Request) throws -> Sender {
        guard request[.authorization] == nil else { return try sender(of: request) }
        do { return .session(try certificateSession(of: request) ?? anonymousSession()) } catch {
            try limits.countAnonymous(client(of: request))
            throw error
        }
    }

    /// Counts a request that is refused before its body has arrived. One that is not refused is counted when the body has arrived.
    func count(refused request: Request, _ session: AccessSession, isWrite: Bool) throws(RateRefusal) {
        guard session.credential == nil else { return try limits.count(session, writes: isWrite ? 1 : 0, bytes: 0) }
        if !session.value.isOperator { try limits.countAnonymous(client(of: request)) }
    }

    /// The address by which requests without a credential are counted; `nil` if the rates of addresses do not apply to it.
    func client(of request: Request) -> ClientAddress? { request.client(besides: state.withLock { $0.policy.proxies }) }

    /// The session of a request without a credential.
    private func anonymousSession() throws(Problem) -> AccessSession {
        let generation = generation.load(ordering: .acquiring)
        guard let session = state.withLock({ $0.anonymousSession }) else { throw AccessProblem.missing }
        return AccessSession(session, nil, generation: generation)
    }

    /// The session of the certificate of a request's connection; `nil` if its listener gives certificates no rights.
    private func certificateSession(of request: Request) throws -> AccessSession? {
        guard let credential = try certificateCredential(of: request) else { return nil }
        guard let session = try session(of: Secret(credential.bytes)) else { throw AccessProblem.changed }
        return session
    }

    /// The session of a key or of a token that is known; `nil` for a token that has to be verified.
    /// - Parameter client: `nil` if the rates of addresses do not apply to it.
    private func session(of credential: Secret, from client: ClientAddress? = nil) throws -> AccessSession? {
        // Before the lookup: a change in between makes the next check look again.
        let generation = generation.load(ordering: .acquiring)
        let now = now
        let known = state.withLock { $0.find(credential.exposed, at: now) }
        var client = client
        switch known {
        case .session, .refused: return try AccessSession(known, credential, generation: generation)
        // Its address has not failed by it.
        case .stale: client = nil
        case .unknown: try limits.beginVerification(from: client)
        }
        guard let opened = state.withLock({ $0.openAtOnce(credential.exposed, at: now) }) else { return nil }
        if case .refused = opened { limits.noteFailure(from: client) }
        return try AccessSession(opened, credential, generation: generation)
    }

    /// Whether nothing was revoked, disabled or replaced since the session's last check. It may have expired.
    func isUnchanged(_ session: AccessSession) -> Bool { session.generation == generation.load(ordering: .acquiring) }

    /// Checks a session whose request is in progress, or waits. A token is verified here only if a change of the policy has
    /// overtaken its request.
    ///
    /// - Throws: `unauthorized` if its credential is not valid any more; `unavailable` if it has other rights now, by which
    ///   the request was not decided.
    func check(_ session: AccessSession) throws {
        guard !session.value.isOperator else { return }
        if session.value.isExpired(at: now) { throw AccessProblem.of(.expired) }
        if isUnchanged(session) { return }
        let now = now
        guard let credential = session.credential else {
            guard try anonymousSession().value.rights == session.value.rights else { throw AccessProblem.changed }
            return
        }
        let lookup = state.withLock { $0.check(session.value, of: credential.exposed, at: now) }
        var current = try AccessSession(lookup, credential, generation: 0)
        if current == nil { current = try verifyAtOnce(credential) }
        guard let current, current.value.rights == session.value.rights else { throw AccessProblem.changed }
    }

    /// The problem with a session whose request is in progress; `nil` if there is none.
    func problem(of session: AccessSession) -> Problem? {
        do { try check(session) } catch { return error as? Problem ?? AccessProblem.changed }
        return nil
    }

    /// Whether a wait of the session has to end. It may outlast the session by the margin of its revocation.
    func hasEnded(_ session: AccessSession) -> Bool {
        guard problem(of: session) != nil else { return false }
        let now = now
        return !state.withLock { $0.revocations.keepsWaits(of: session.value, at: now) }
    }

    /// Whether a wait that ends at ``deadline(of:at:)`` has to end already, by a revocation. Reads no clock if there was none.
    func wasRevoked(_ session: AccessSession) -> Bool { !isUnchanged(session) && hasEnded(session) }

    /// When a wait of the session must end at the latest, and has expired if that is not later than `now`; both in monotonic
    /// milliseconds. `nil` if it has no end; then no clock is read.
    func deadline(of session: AccessSession, at now: Int64) -> Int64? {
        session.value.deadline(at: TimeReading(wall: environment.wallMilliseconds(), monotonic: now))
    }

    /// The class of a session's readable records in a namespace; `nil` if it may read none.
    func readClass(of session: AccessSession, in namespace: Namespace) -> RightsClasses.ReadClass? {
        state.withLock { $0.classes.readClass(of: session.value.rights, in: namespace) }
    }

    // MARK: Tokens

    /// Verifies a token, and calls the completion from another thread, or at once if too many tokens wait.
    func verify(
        _ token: Secret, from client: ClientAddress?, then completion: @escaping @Sendable (Result<AccessSession, any Error>) -> Void
    ) {
        let isAccepted = verifications.submit { [self] in verify(token, client, triesLeft: Self.maximumTries, completion) }
        if !isAccepted { completion(.failure(AccessProblem.busy)) }
    }

    /// What a verification goes by, as of one moment.
    private struct Basis {
        let verifier: TokenVerifier
        let issuers: [IssuerKeys]
        /// That of the revocations.
        let checked: UInt64
        let generation: UInt64
    }

    private func basis() -> Basis {
        let generation = generation.load(ordering: .acquiring)
        return state.withLock {
            Basis(verifier: $0.policy.verifier, issuers: $0.issuers, checked: $0.revocations.generation, generation: generation)
        }
    }

    private func verify(
        _ token: Secret, _ client: ClientAddress?, triesLeft: Int,
        _ completion: @escaping @Sendable (Result<AccessSession, any Error>) -> Void
    ) {
        // Another request may have had it verified in the meantime, or its address may have used up its failures.
        do { if let session = try session(of: token, from: client) { return completion(.success(session)) } } catch {
            return completion(.failure(error))
        }
        let basis = basis()
        do throws(TokenRefusal) {
            let unverified = try basis.verifier.read(token.exposed)
            basis.issuers[unverified.issuer].need(unverified.algorithm, unverified.keyID) { [self] keys in
                // Not on the thread that has fetched the keys.
                _ = verifications.submit(isContinuation: true) { [self] in
                    let lookup: SessionTable.Lookup
                    switch keys {
                    case .failure(.unavailable): return completion(.failure(AccessProblem.unavailable))
                    case .failure(.unknownKey): lookup = refuse(token, .token(.unknownKey), client)
                    case .success(let keys): lookup = open(token, unverified, keys, basis, client)
                    }
                    do throws(Problem) {
                        if let session = try AccessSession(lookup, token, generation: basis.generation) {
                            return completion(.success(session))
                        }
                    } catch { return completion(.failure(error)) }
                    guard triesLeft > 0 else { return completion(.failure(AccessProblem.changed)) }
                    verify(token, client, triesLeft: triesLeft - 1, completion)
                }
            }
        } catch {
            _ = refuse(token, .token(error), client)
            completion(.failure(AccessProblem.of(.token(error))))
        }
    }

    /// Verifies a token with the keys at hand; `nil` if there are none, or another change has overtaken it.
    private func verifyAtOnce(_ token: Secret) throws -> AccessSession? {
        if let session = try session(of: token) { return session }
        let basis = basis()
        let lookup: SessionTable.Lookup
        do throws(TokenRefusal) {
            let unverified = try basis.verifier.read(token.exposed)
            guard let keys = basis.issuers[unverified.issuer].held else { return nil }
            lookup = open(token, unverified, keys, basis)
        } catch { lookup = refuse(token, .token(error)) }
        return try AccessSession(lookup, token, generation: basis.generation)
    }

    /// Verifies a token's signature and claims, and adds its session. The table asks the revocations about it.
    private func open(_ token: Secret, _ unverified: UnverifiedToken, _ keys: KeySet, _ basis: Basis, _ client: ClientAddress? = nil)
        -> SessionTable.Lookup
    {
        let now = now
        verified.add()
        do throws(TokenRefusal) {
            let verified = try basis.verifier.verify(unverified, by: keys, at: now.wall)
            let session = Session(verified, generation: basis.checked, at: now)
            return state.withLock { $0.sessions.admit(session, for: token.exposed, revocations: $0.revocations, at: now) }
        } catch {
            if error == .badSignature { basis.issuers[unverified.issuer].noteBadSignature() }
            return refuse(token, .token(error), client)
        }
    }

    private func refuse(_ token: Secret, _ refusal: SessionRefusal, _ client: ClientAddress? = nil) -> SessionTable.Lookup {
        let now = now
        state.withLock { $0.sessions.noteRefusal(refusal, of: token.exposed, at: now) }
        // One that its issuer has signed is no guess: devices behind one address would use up each other's failures.
        if case .token(let reason) = refusal, reason.isSigned { return .refused(refusal) }
        limits.noteFailure(from: client)
        return .refused(refusal)
    }
}
