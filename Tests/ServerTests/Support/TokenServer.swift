import FreshetTestSupport
import FreshetTrust
import FreshetWire
import Synchronization

@testable import FreshetServer

/// An identity provider whose key set a test changes, and whose answers it may hold back.
final class ScriptedIssuer: Sendable {
    enum Answer: Sendable {
        case keys([TokenSigner], ids: [String])
        case failure
        case document([UInt8])
        /// None, until ``release()``.
        case nothing
    }

    typealias Completion = @Sendable (Result<KeyDocument, KeyFetchFailure>) -> Void

    private let state = Mutex<(answer: Answer, count: Int, held: [Completion])>((.failure, 0, []))

    init(_ answer: Answer) { set(answer) }

    func set(_ answer: Answer) { state.withLock { $0.answer = answer } }

    /// The fetches so far.
    var count: Int { state.withLock { $0.count } }

    func fetch(_ url: String, _ completion: @escaping Completion) {
        let answer = state.withLock { state in
            state.count += 1
            if case .nothing = state.answer { state.held.append(completion) }
            return state.answer
        }
        switch answer {
        case .keys(let signers, let ids):
            let keys = zip(signers, ids).map { $0.jwk(#","kid":"\#($1)""#) }
            completion(.success(KeyDocument(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8), maximumAge: 600_000)))
        case .document(let bytes): completion(.success(KeyDocument(bytes, maximumAge: nil)))
        case .failure: completion(.failure(KeyFetchFailure("it is down")))
        case .nothing: break
        }
    }

    /// Lets the fetches fail that are held back.
    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for completion in held { completion(.failure(KeyFetchFailure("it was slow"))) }
    }
}

/// A server that accepts the tokens of one issuer, and the claims of such tokens.
struct TokenServer: Sendable {
    static let issuer = "https://id.example.org"
    static let roles =
        #"{"till":[{"ns":"shop","in":["articles"],"may":["read"]},{"ns":"shop","in":["carts/{sub}/*"],"may":["read","write"]}]}"#

    let server: AccessServer
    let clock: TestClock

    /// A configuration with the issuer.
    static func configuration(
        _ source: AccessPolicy.KeySource, by fetch: @escaping KeyFetch = { $1(.failure(KeyFetchFailure("no network"))) },
        roles: String = roles, algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases)
    ) throws -> RecordServerConfiguration {
        let text = #"{"listen":[{"address":"127.0.0.1:0"}],"roles":\#(roles)}"#
        let file = try Configuration(json: Array(text.utf8), rules: RecordServerConfiguration.fileRules)
        var configuration = RecordServerConfiguration()
        try configuration.take(file, [source], fetch: fetch)
        configuration.verifier = TokenVerifier(
            issuers: [Issuer(name: issuer, audience: "freshet", algorithms: algorithms)], roles: file.roles)
        return configuration
    }

    static func with<Result>(
        _ configuration: RecordServerConfiguration, _ body: (TokenServer) async throws -> Result
    ) async throws -> Result {
        let clock = TestClock()
        return try await TestServer.with(configuration, environment: clock.environment) {
            try await body(TokenServer(server: AccessServer(test: $0), clock: clock))
        }
    }

    /// Claims that are accepted now, with `changes`; a `nil` removes one. Times are in seconds.
    func claims(_ changes: [String: String?] = [:]) -> String {
        let now = clock.wall / 1_000
        var claims = [
            "iss": #""\#(Self.issuer)""#, "aud": #""freshet""#, "sub": #""u7""#, "exp": "\(now + 600)", "iat": "\(now)",
            "freshet_role": #""till""#,
        ]
        for (name, value) in changes { claims[name] = value }
        return "{" + claims.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
    }

    /// The field that sends a token.
    func field(_ signer: TokenSigner, _ changes: [String: String?] = [:], id: String? = nil) -> (String, String) {
        ("Authorization", "Bearer " + String(decoding: signer.token(claims: claims(changes), id: id), as: UTF8.self))
    }

    static let everything = #"[{"ns":"*","in":["*"],"may":["read","write","invalidate","create","drop","inspect"]}]"#

    func status(_ field: (String, String), _ method: String = "GET", _ key: String = "carts/u7/1") async throws -> Int {
        try await server.request(method, "/v1/shop/records/\(Self.path(key))", field, TestServer.json, method == "PUT" ? "1" : nil).status
    }

    /// The status of a read of a record with a token.
    func status(
        _ signer: TokenSigner, _ changes: [String: String?] = [:], id: String, of key: String = "carts/u7/1"
    ) async throws -> Int {
        try await status(field(signer, changes, id: id), "GET", key)
    }

    /// An id may contain slashes, which a path encodes.
    private static func path(_ key: String) -> String {
        let parts = key.split(separator: "/", maxSplits: 1)
        return "\(parts[0])/\(parts[1].split(separator: "/").joined(separator: "%2F"))"
    }
}
