import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes
import Synchronization

/// Finds out who sends a request, and what that principal may do.
///
/// Safe to use from any thread. A credential is verified once and then found by its bytes; a revocation reaches every
/// session by its generation.
final class AccessControl: Sendable {
    private struct State {
        var policy: AccessPolicy
        var keys: [KeyIdentifier: StoredKey]
        /// The keys whose last use is not stored yet.
        var unstoredUses: Set<KeyIdentifier> = []
        var sessions = SessionTable()
        var revocations = RevocationList()
        var classes = RightsClasses()
    }

    /// The most keys of a server.
    static let maximumKeys = 10_000

    private let state: Mutex<State>
    /// Counts the changes of keys and revocations, so that a session in use is checked without the lock.
    private let generation = Atomic<UInt64>(0)
    private let environment: ServerEnvironment
    /// The day of the last call of ``noteTime()``.
    private let day: Atomic<Int64>

    /// - Parameter rows: those of the store.
    init(_ policy: AccessPolicy, rows: [AccessRow], environment: ServerEnvironment) {
        let keys = rows.compactMap { StoredKey($0) }
        var state = State(policy: policy, keys: Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { $1 }))
        for row in rows where row.kind == .use { KeyIdentifier(row.name).map { state.keys[$0]?.take(use: row) } }
        self.state = Mutex(state)
        self.environment = environment
        day = Atomic(Timestamp(milliseconds: environment.wallMilliseconds()).day)
    }

    /// The hosts and origins of requests.
    var rules: AccessRules { state.withLock { $0.policy.rules } }

    /// Takes another policy. Each session is checked by it before it is used again.
    func set(_ policy: AccessPolicy) {
        state.withLock { state in
            state.policy = policy
            Self.credentialsChanged(&state)
        }
        generation.add(1, ordering: .releasing)
    }

    private var now: Moment {
        Moment(wall: environment.wallMilliseconds(), monotonic: environment.monotonicNanoseconds() / 1_000_000)
    }

    // MARK: Keys

    /// All keys, by id.
    var keys: [StoredKey] { state.withLock { $0.keys.values.sorted { $0.id.text < $1.id.text } } }

    var hasRoom: Bool { state.withLock { $0.keys.count < Self.maximumKeys } }

    func key(_ id: KeyIdentifier) -> StoredKey? { state.withLock { $0.keys[id] } }

    /// Takes a key as it is stored now. Its sessions are checked again before they are used.
    func set(_ key: StoredKey) {
        state.withLock { state in
            state.keys[key.id] = key
            Self.credentialsChanged(&state)
        }
        generation.add(1, ordering: .releasing)
    }

    /// Forgets a key, and ends its sessions.
    func remove(_ id: KeyIdentifier) {
        state.withLock { state in
            state.keys[id] = nil
            Self.credentialsChanged(&state)
        }
        generation.add(1, ordering: .releasing)
    }

    // MARK: Uses of keys

    /// Has each session looked up again on another day, so that the uses of keys are noted whose connections stay open. To be
    /// called some times a minute.
    func noteTime() {
        let today = Timestamp(milliseconds: environment.wallMilliseconds()).day
        if day.exchange(today, ordering: .relaxed) != today { generation.add(1, ordering: .releasing) }
    }

    /// Notes a use of a key: at most one has to be stored for each key and day.
    private static func noteUse(_ id: KeyIdentifier, _ state: inout State, at now: Moment) {
        if state.keys[id]?.noteUse(at: now.wall) == true { state.unstoredUses.insert(id) }
    }

    /// The rows of the last uses that are not stored yet, each once; at most 1,000.
    func takeUnstoredUses() -> [AccessRow] {
        state.withLock { state in
            guard !state.unstoredUses.isEmpty else { return [] }
            let ids = state.unstoredUses.prefix(1_000)
            state.unstoredUses.subtract(ids)
            return ids.compactMap { state.keys[$0]?.useRow }
        }
    }

    private static func credentialsChanged(_ state: inout State) {
        state.sessions.forgetRefusals()
        state.revocations.requireVerification()
    }

    // MARK: Sessions

    /// Returns the session of a request's credential.
    ///
    /// - Throws: `unauthorized`. The text is the same for every credential that the server does not know.
    func session(of request: Request) throws(Problem) -> AccessSession {
        guard let field = request[.authorization] else { return try anonymousSession() }
        guard let credential = Self.bearer(Array(field.utf8)) else { throw Self.malformed }
        return try session(of: Secret(credential))
    }

    /// The session of a request without a credential.
    private func anonymousSession() throws(Problem) -> AccessSession {
        let generation = generation.load(ordering: .acquiring)
        let (rights, checked) = state.withLock { ($0.policy.anonymous, $0.revocations.generation) }
        guard !rights.grants.isEmpty else { throw Self.missing }
        return AccessSession(Session(anonymous: rights, generation: checked), nil, generation: generation)
    }

    /// Whether the session may be used as it is: nothing was revoked, disabled or replaced since its last check, and it has
    /// not expired. One comparison of numbers and one of times.
    func isCurrent(_ session: AccessSession) -> Bool {
        session.generation == generation.load(ordering: .acquiring) && !session.value.isExpired(at: now)
    }

    /// Checks a session whose request is in progress, or waits.
    ///
    /// - Throws: `unauthorized` if its credential is not valid any more; `unavailable` if it has other rights now, by which
    ///   the request was not decided.
    func check(_ session: AccessSession) throws(Problem) {
        if session.value.isExpired(at: now) { throw Self.problem(.expired) }
        if session.generation == generation.load(ordering: .acquiring) { return }
        let current: AccessSession
        if let credential = session.credential { current = try self.session(of: credential) } else { current = try anonymousSession() }
        guard current.value.rights == session.value.rights else { throw Self.changed }
    }

    private func session(of credential: Secret) throws(Problem) -> AccessSession {
        // Before the lookup: a change in between makes the next check look again.
        let generation = generation.load(ordering: .acquiring)
        let now = now
        let found: Result<Session, SessionRefusal> = state.withLock { state in
            let found: Result<Session, SessionRefusal> =
                switch state.sessions.find(credential.exposed, revocations: state.revocations, at: now) {
                case .session(let session): .success(session)
                case .refused(let refusal): .failure(refusal)
                case .unknown: Self.verify(credential.exposed, &state, at: now)
                }
            if let key = (try? found.get())?.key { Self.noteUse(key, &state, at: now) }
            return found
        }
        switch found {
        case .success(let session): return AccessSession(session, credential, generation: generation)
        case .failure(let refusal): throw Self.problem(refusal)
        }
    }

    /// When a wait of the session must end at the latest, in monotonic milliseconds.
    func deadline(of session: AccessSession) -> Int64? { session.value.deadline(at: now) }

    /// The class of a session's readable records in a namespace; `nil` if it may read none.
    func readClass(of session: AccessSession, in namespace: Namespace) -> RightsClasses.ReadClass? {
        state.withLock { $0.classes.readClass(of: session.value.rights, in: namespace) }
    }

    private static func verify(_ credential: [UInt8], _ state: inout State, at now: Moment) -> Result<Session, SessionRefusal> {
        let outcome = checkKey(credential, state, at: now)
        switch outcome {
        case .failure(let refusal):
            state.sessions.noteRefusal(refusal, of: credential, at: now)
            return .failure(refusal)
        case .success(let session):
            guard case .session(let admitted) = state.sessions.admit(session, for: credential, revocations: state.revocations, at: now)
            else { return .failure(.revoked) }
            return .success(admitted)
        }
    }

    private static func checkKey(_ credential: [UInt8], _ state: State, at now: Moment) -> Result<Session, SessionRefusal> {
        guard let key = try? AccessKey(credential), let stored = state.keys[key.id] else { return .failure(.key(.unknown)) }
        do throws(KeyRefusal) {
            let expires = try stored.check(key, at: now.wall)
            return .success(Session(stored, expires: expires, generation: state.revocations.generation, at: now))
        } catch { return .failure(.key(error)) }
    }

    /// The token of `Bearer <token>` (RFC 6750 §2.1); the scheme in any case (RFC 9110 §11.1).
    private static func bearer(_ field: [UInt8]) -> [UInt8]? {
        let scheme = Array("bearer ".utf8)
        guard field.count > scheme.count, zip(field, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return nil }
        let token = field.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty || token.contains(UInt8(ascii: " ")) || token.contains(UInt8(ascii: ",")) ? nil : Array(token)
    }

    // MARK: Problems

    private static let missing = Problem(
        .unauthorized, "This server takes requests with a key or a token only: send it as 'Authorization: Bearer …'.")
    private static let malformed = Problem(
        .unauthorized, "The field Authorization has no bearer token: send 'Authorization: Bearer …' with one key or token.")

    /// The answer to a wait whose session has ended.
    static let ended = Problem(.unauthorized, "The key or token was revoked: log in again, or ask the operator.")
    private static let changed = Problem(
        .unavailable, "The rights of the request were changed while it was in progress: send it again.")
    private static let unknown = Problem(
        .unauthorized,
        "The server does not know this key or token: check that it is whole, and meant for this server.")

    private static func problem(_ refusal: SessionRefusal) -> Problem {
        switch refusal {
        case .key(.unknown), .malformedKey: unknown
        case .key(.disabled): Problem(.unauthorized, "The key is disabled: ask the operator, or use another one.")
        case .key(.expired): Problem(.unauthorized, "The key has expired: ask the operator for another one.")
        case .key(.replaced): Problem(.unauthorized, "The key was replaced, and its time of overlap is over: use the new one.")
        case .token(let refusal) where refusal.isSigned: Problem(.unauthorized, refusal.description + ".")
        case .token: unknown
        case .expired: Problem(.unauthorized, "The key or token has expired: request another one.")
        case .revoked: ended
        }
    }
}

/// The session of a connection's requests.
final class AccessSession: Sendable {
    let value: Session
    /// `nil` if the request had none. The bytes are shared with the table of sessions.
    let credential: Secret?
    /// That of ``AccessControl`` when the credential was checked.
    let generation: UInt64

    init(_ session: Session, _ credential: Secret?, generation: UInt64) {
        value = session
        self.credential = credential
        self.generation = generation
    }
}
