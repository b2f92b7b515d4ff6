import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

/// A request from its credential to its decision, through all parts in the order in which a server calls them.
struct RequestFlowTests {
    private let verifier: TokenVerifier
    private let published: KeySet
    private var cache = KeySetCache()
    private var keys: [KeyIdentifier: StoredKey] = [:]
    private var table = SessionTable()
    private var revocations = RevocationList()
    private var limits: RequestLimits<Int>
    private var now = TimeReading(wall: TokenFixture.now * 1_000, monotonic: 1_000)
    private let shop: Namespace

    init() throws {
        let configuration = try Configuration(
            json: Array(
                """
                {"listen": [{"address": "127.0.0.1:8180"}],
                 "issuers": [{"issuer": "https://id.example.org", "audience": "freshet", "keys": {"url": "https://id.example.org/jwks"}}],
                 "roles": {"till": [{"ns": "shop", "in": ["carts/{sub}/*"], "may": ["read", "write"]}]}}
                """.utf8), rules: ConfigurationTests.rules)
        verifier = configuration.verifier
        limits = RequestLimits(configuration.quotas)
        published = try KeySet(jwks: Array(#"{"keys":[\#(TokenSigner.es256.jwk(#","kid":"k1""#))]}"#.utf8), allowsSecrets: false)
        shop = try Namespace("shop")
    }

    /// The status of a request for a record, as a server would answer it.
    private mutating func status(_ credential: [UInt8], _ verb: Verb, _ key: String) throws -> Int {
        let record = KeyRange.key(try RecordKey(key))
        switch table.find(credential, revocations: revocations, at: now) {
        case .session(let session): return Self.status(session.rights.decide(verb, in: shop, of: record))
        case .refused: return 401
        case .stale: break
        case .unknown: if limits.beginVerification(from: 1, at: now.monotonic) != nil { return 429 }
        }
        let generation = revocations.generation
        let session: Session
        do {
            session = try open(credential, generation)
        } catch {
            table.noteRefusal(error, of: credential, at: now)
            limits.noteFailure(from: 1, at: now.monotonic)
            return 401
        }
        guard case .session(let admitted) = table.admit(session, for: credential, revocations: revocations, at: now) else { return 401 }
        return Self.status(admitted.rights.decide(verb, in: shop, of: record))
    }

    private mutating func open(_ credential: [UInt8], _ generation: UInt64) throws(SessionRefusal) -> Session {
        if AccessKey.isKey(credential) {
            let key: AccessKey
            do { key = try AccessKey(credential) } catch { throw .malformedKey(error) }
            guard let stored = keys[key.id] else { throw .key(.unknown) }
            do { return Session(stored, expires: try stored.check(key, at: now.wall), generation: generation, at: now) } catch {
                throw .key(error)
            }
        }
        do throws(TokenRefusal) {
            let token = try verifier.read(credential)
            let verified = try verifier.verify(token, by: fetchedKeys(token), at: now.wall)
            return Session(verified, generation: generation, at: now)
        } catch { throw .token(error) }
    }

    private mutating func fetchedKeys(_ token: UnverifiedToken) throws(TokenRefusal) -> KeySet {
        var actions = cache.need(request: 1, token.algorithm, token.keyID, at: now.monotonic)
        while let action = actions.first {
            actions.removeFirst()
            switch action {
            case .fetch(let attempt): actions += cache.fetched(published, maxAge: nil, attempt: attempt, at: now.monotonic)
            case .answer(_, let keys): return keys
            case .refuse: throw .unknownKey
            }
        }
        throw .unknownKey
    }

    private static func status(_ decision: Decision) -> Int { if case .allowed = decision { 200 } else { 403 } }

    @Test mutating func aDevicesTokenAllowsItsRoleUntilItIsRevoked() throws {
        // Given
        let token = TokenSigner.es256.token(claims: TokenFixture.claims(["freshet_role": #""till""#]), id: "k1")
        // When
        let before = [
            try status(token, .write, "carts/u7/1"), try status(token, .write, "carts/u8/1"), try status(token, .invalidate, "carts/u7/1"),
        ]
        try revocations.add(
            Revocation(.principal(Principal(issuer: "https://id.example.org", subject: "u7")), issuedBefore: now.wall, created: now.wall),
            at: now)
        let after = [try status(token, .write, "carts/u7/1"), try status(token, .write, "carts/u7/1")]
        // Then
        #expect(before == [200, 403, 403] && after == [401, 401])
    }

    @Test mutating func aKeyAllowsItsGrantsUntilItIsDisabled() throws {
        // Given
        var random = SeededGenerator(seed: 1)
        let key = AccessKey(using: &random)
        var stored = StoredKey(
            key, name: "backend", rights: try Rights(json: Array(#"[{"ns":"*","in":["orders"],"may":["read"]}]"#.utf8)), created: now.wall)
        keys[key.id] = stored
        // When
        let before = [try status(key.token.exposed, .read, "orders/1"), try status(key.token.exposed, .write, "orders/1")]
        stored.isDisabled = true
        keys[key.id] = stored
        revocations.requireVerification()
        let after = try status(key.token.exposed, .read, "orders/1")
        // Then
        #expect(before == [200, 403] && after == 401)
    }

    @Test mutating func guessesFromOneAddressAreLimited() throws {
        // Given
        var random = SeededGenerator(seed: 2)
        // When
        var statuses: [Int] = []
        for _ in 0..<12 { statuses.append(try status(AccessKey(using: &random).token.exposed, .read, "orders/1")) }
        // Then
        #expect(statuses == Array(repeating: 401, count: 10) + [429, 429])
    }
}
