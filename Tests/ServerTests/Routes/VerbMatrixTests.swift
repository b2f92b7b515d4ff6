import FreshetTestSupport
import FreshetTrust
import FreshetWire
import HTTPTypes
import Synchronization
import Testing

@testable import FreshetServer

/// Each endpoint with credentials that have one verb each, for records inside and outside of their range, and with the same credentials
/// after they were revoked. A new endpoint does not compile without its rule.
@Suite("Access by each single verb") struct VerbMatrixTests {
    /// How an endpoint decides a request.
    private enum Rule {
        /// It needs no credential.
        case open
        /// Any valid credential is enough.
        case credential
        /// It needs the key of an administrator.
        case administrator
        /// It needs one of the verbs on any record of the namespace.
        case namespace([Verb])
        /// It needs the verb on all records of the namespace.
        case everything(Verb)
        /// It needs the verb on the records that the request names.
        case records(Verb)
        /// It needs both verbs on the records that the request names.
        case recordsWithBoth(Verb, Verb)
        /// It needs the verb on any record of the namespace. Each record that the request names is decided separately, and the response
        /// states those that are refused.
        case eachRecord(Verb)
    }

    private static func rule(of endpoint: Endpoint) -> Rule {
        switch endpoint {
        case .getRecord, .listRecords, .getChanges: .records(.read)
        case .putRecord, .deleteRecord: .records(.write)
        case .patchRecord: .recordsWithBoth(.write, .read)
        case .invalidate: .records(.invalidate)
        case .read: .eachRecord(.read)
        case .write: .eachRecord(.write)
        case .getClient: .namespace([.write, .inspect])
        case .makeTicket: .namespace([.read])
        case .getNamespace: .namespace([.inspect])
        case .deleteNamespace: .namespace([.drop])
        case .checkAccess: .everything(.read)
        case .getRights, .getServer: .credential
        case .listKeys, .makeKey, .getKey, .changeKey, .rotateKey, .revokeKey, .listRevocations, .makeRevocation, .listDenials, .reload,
            .getReadiness, .getMetrics:
            .administrator
        case .getHealth, .getOpenAPI: .open
        }
    }

    /// Endpoints whose allowed requests are answered without the store, apart from those that allow none here.
    private static let usesNoStore: Set<Endpoint> = [.getRights, .makeTicket, .getHealth, .getOpenAPI]

    private static func isAllowed(_ rule: Rule, _ verb: Verb, isInside: Bool) -> Bool {
        switch rule {
        case .open, .credential: true
        case .administrator, .everything, .recordsWithBoth: false
        case .namespace(let verbs): verbs.contains(verb)
        case .records(let needed): verb == needed && isInside
        case .eachRecord(let needed): verb == needed
        }
    }

    /// The ids of the requests, and whether they are in the range of the credentials, `articles/1*`.
    private static func ids(of rule: Rule) -> [(id: String, isInside: Bool)] {
        switch rule {
        case .records, .recordsWithBoth, .eachRecord: [("1", true), ("10", true), ("0", false), ("2", false)]
        case .open, .credential, .administrator, .namespace, .everything: [("1", true)]
        }
    }

    /// Counts the calls of a store between two moments.
    private final class CallCount: Sendable {
        private let count = Atomic<Int>(0)
        private let isOn = Atomic<Bool>(false)

        func note() { if isOn.load(ordering: .sequentiallyConsistent) { count.add(1, ordering: .sequentiallyConsistent) } }

        /// The calls during the closure.
        func during(_ body: () async throws -> Reply) async throws -> (reply: Reply, calls: Int) {
            let before = count.load(ordering: .sequentiallyConsistent)
            isOn.store(true, ordering: .sequentiallyConsistent)
            let reply = try await body()
            isOn.store(false, ordering: .sequentiallyConsistent)
            return (reply, count.load(ordering: .sequentiallyConsistent) - before)
        }
    }

    /// A server over a store that counts its calls, and an operator with all rights.
    private struct Fixture {
        let base = MemoryRecordStore(seed: 7)
        let calls = CallCount()
        let tokens: TokenServer
        let operate: (String, String)
        private var clients = 0

        init(answersAtOnce: Bool) throws {
            let calls = calls
            let store = ObservedStore(base, answersAtOnce: answersAtOnce, onCall: { _ in calls.note() })
            let keys = try KeySet([TokenSigner.hs256.verificationKey()])
            // A clock that stands still: no interval of the server ends meanwhile.
            let clock = TestClock()
            let test = try TestServer(
                sharing: SharedStore(store), TokenServer.configuration(.fixed(keys)), environment: clock.environment)
            tokens = TokenServer(server: AccessServer(test: test), clock: clock)
            operate = try tokens.server.key(TokenServer.everything, isAdmin: true).field
        }

        func seed(_ ids: String...) async throws {
            for id in ids {
                let path = "/v1/shop/records/articles/\(id)"
                #expect([200, 201].contains(try await tokens.server.request("PUT", path, operate, TestServer.json, "1").status))
            }
        }

        mutating func send(_ endpoint: Endpoint, _ id: String, _ field: (String, String)) async throws -> (reply: Reply, calls: Int) {
            clients += 1
            let sample = EndpointSample(of: endpoint, id: id, client: "c\(clients)")
            let server = tokens.server
            return try await calls.during {
                try await server.request(endpoint.method.rawValue, sample.target, field, sample.fields, sample.body)
            }
        }

        /// As ``send(_:_:_:)``, for a request that is denied. The server's own work, such as the days on which keys were used, may call the
        /// store meanwhile; a request that reaches the store does so each time.
        mutating func sendDenied(_ endpoint: Endpoint, _ id: String, _ field: (String, String)) async throws -> (reply: Reply, calls: Int) {
            var found = try await send(endpoint, id, field)
            for _ in 1...4 where found.calls > 0 { found = try await send(endpoint, id, field) }
            return found
        }

        /// The last revision of the namespace.
        func head() throws -> Revision { try base.state(of: Namespace("shop")).head }
    }

    private static func with(answersAtOnce: Bool, _ body: (inout Fixture) async throws -> Void) async throws {
        var fixture = try Fixture(answersAtOnce: answersAtOnce)
        do { try await body(&fixture) } catch {
            await fixture.tokens.server.test.server.stop()
            throw error
        }
        await fixture.tokens.server.test.server.stop()
    }

    /// Whether the response to a request for one record states that it was refused.
    private static func statesRefusal(_ reply: Reply, of endpoint: Endpoint) throws -> Bool {
        guard endpoint == .write else { return try !reply.message(ReadsResponse.self).forbidden.isEmpty }
        guard case .rejected(let problem)? = try reply.message(WriteResults.self).results.first?.verdict else { return false }
        return problem.code == .forbidden
    }

    /// Sends the requests of one credential, and returns how often the allowed ones have called the store.
    private static func check(
        _ endpoint: Endpoint, _ verb: Verb, _ field: (String, String), _ fixture: inout Fixture
    ) async throws -> Int {
        var calls = 0
        let rule = rule(of: endpoint)
        for (id, isInside) in ids(of: rule) {
            let isAllowed = isAllowed(rule, verb, isInside: isInside)
            // An earlier request may have deleted the record.
            if isAllowed { try await fixture.seed(id) }
            let head = try fixture.head()
            let (reply, called) =
                isAllowed ? try await fixture.send(endpoint, id, field) : try await fixture.sendDenied(endpoint, id, field)
            let place: Comment = "\(endpoint) of \(id) by a credential that may \(verb.rawValue): \(reply.text)"
            let allowed = endpoint == .makeTicket ? 201 : 200
            #expect(reply.status == (isAllowed ? allowed : 403), place)
            if isAllowed { calls += called } else { #expect(called == 0, place) }
            if !isAllowed || !isInside { #expect(try fixture.head() == head, place) }
            if case .eachRecord = rule, isAllowed { #expect(try statesRefusal(reply, of: endpoint) == !isInside, place) }
        }
        return calls
    }

    private static func grant(_ verb: Verb) -> String {
        #"[{"ns":"shop","in":["\#(verb.concernsNamespace ? "*" : "articles/1*")"],"may":["\#(verb.rawValue)"]}]"#
    }

    @Test(
        "A credential does what its verb and range allow, and nothing after it was revoked; a denied request does not reach the store",
        arguments: Endpoint.allCases, [true, false])
    func matrix(endpoint: Endpoint, answersAtOnce: Bool) async throws {
        try await Self.with(answersAtOnce: answersAtOnce) { fixture in
            // Given a key and a token for each verb
            try await fixture.seed("0", "1", "2", "10")
            let tokens = fixture.tokens
            let holders = try Verb.allCases.map { verb in
                let key = try tokens.server.key(Self.grant(verb))
                let claims: [String: String?] = ["freshet": Self.grant(verb), "freshet_role": nil, "jti": #""\#(verb.rawValue)""#]
                return (verb: verb, key: key, token: tokens.field(.hs256, claims))
            }
            // When each is used; Then it does what it allows
            var calls = 0
            for holder in holders {
                calls += try await Self.check(endpoint, holder.verb, holder.key.field, &fixture)
                calls += try await Self.check(endpoint, holder.verb, holder.token, &fixture)
            }
            // And the store is counted
            let rule = Self.rule(of: endpoint)
            let isAllowedToAny = Verb.allCases.contains { Self.isAllowed(rule, $0, isInside: true) }
            if isAllowedToAny, !Self.usesNoStore.contains(endpoint) { #expect(calls > 0) }
            // When the keys are deleted and the tokens are revoked
            for holder in holders {
                #expect(try await tokens.server.request("DELETE", "/admin/keys/\(holder.key.stored.id)", fixture.operate).status == 200)
                let revocation = #"{"jti":"\#(holder.verb.rawValue)"}"#
                #expect(try await tokens.server.post("/admin/revocations", fixture.operate, revocation).status == 201)
            }
            // Then they open nothing
            let head = try fixture.head()
            for holder in holders {
                for field in [holder.key.field, holder.token] {
                    for (id, _) in Self.ids(of: rule) {
                        let (reply, called) = try await fixture.sendDenied(endpoint, id, field)
                        let isOpen = if case .open = rule { true } else { false }
                        #expect(reply.status == (isOpen ? 200 : 401), "\(endpoint) of \(id) by what could \(holder.verb)")
                        #expect(called == 0 && reply.cursor == nil)
                    }
                }
            }
            #expect(try fixture.head() == head)
        }
    }
}
