import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer
@testable import FreshetTrust

@Suite("Revocations of tokens", .overBothStores) struct RevocationRouteTests {
    private static let all = #"[{"ns":"shop","in":["*"],"may":["read","write","create","inspect"]}]"#
    private let clock = TestClock()

    private func token(_ subject: String, id: String? = nil, issuedAt: Int64) -> VerifiedToken {
        VerifiedToken(
            principal: Principal(issuer: "https://id", subject: subject), issuer: "https://id", tokenID: id, issuedAt: issuedAt,
            expires: .max, rights: .all)
    }

    /// A policy's issuers, whose keys no test needs.
    private func take(issuer: String, _ configuration: inout RecordServerConfiguration) {
        configuration.verifier = TokenVerifier(
            issuers: [Issuer(name: issuer, audience: "freshet", algorithms: [.es256])], roles: [:])
        configuration.keySources = [.fixed(KeySet([]))]
    }

    @Test("An administrator revokes a subject's tokens, one token or an issuer's, and they stay revoked after a restart")
    func restart() async throws {
        // Given
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        let made = try OfflineKeys.make(inDirectory: path, request: Array(#"{"name":"operator","admin":true}"#.utf8), now: 0)
        let administrator = ("Authorization", "Bearer \(made.token)")
        var configuration = RecordServerConfiguration(directory: path)
        configuration.requiresKeys = true
        take(issuer: "https://id", &configuration)
        let now = clock.wall
        func list(_ server: TestServer) async throws -> String {
            let reply = try await server.request("GET", "/admin/revocations", [administrator])
            return String(decoding: reply.body, as: UTF8.self)
        }
        func check(_ server: TestServer) throws {
            let access = try #require(server.server.core?.access)
            let revoked = [token("u7", issuedAt: now - 1), token("u8", id: "t1", issuedAt: now), token("u9", issuedAt: 899)]
            let valid = [token("u7", issuedAt: now), token("u8", id: "t2", issuedAt: now - 1), token("u9", issuedAt: 900)]
            let isRevoked = { (token: VerifiedToken) in
                let session = Session(token, generation: 0, at: TimeReading(wall: 0, monotonic: 0))
                return access.problem(of: AccessSession(session, Secret([]), generation: .max))?.code == .unauthorized
            }
            #expect(revoked.allSatisfy(isRevoked) && !valid.contains(where: isRevoked))
        }
        let expected =
            #"{"revocations":[{"issuer":"https://id","issuedBefore":900,"created":\#(now)},{"jti":"t1","issuedBefore":\#(now),"created":\#(now)},"#
            + #"{"issuer":"https://id","subject":"u7","issuedBefore":\#(now),"created":\#(now)}],"count":3}"#
        // When
        try await TestServer.with(configuration, environment: clock.environment) { server in
            for body in [
                #"{"issuer":"https://id","subject":"u7","issuedBefore":5}"#, #"{"issuer":"https://id","subject":"u7"}"#, #"{"jti":"t1"}"#,
                #"{"issuer":"https://id","issuedBefore":900}"#,
            ] {
                #expect(try await server.request("POST", "/admin/revocations", TestServer.json + [administrator], body).status == 201)
            }
            // Then
            #expect(try await list(server) == expected)
            try check(server)
        }
        try await TestServer.with(configuration, environment: clock.environment) { server in
            let after = try await list(server)
            #expect(after.contains(#""count":3"#) && after.contains(#""subject":"u7","issuedBefore":\#(now)"#))
            try check(server)
        }
    }

    @Test(
        "A revocation that could mean something else is refused",
        arguments: [
            "{}", "[]", #"{"subject":"u7"}"#, #"{"issuer":"i"}"#, #"{"jti":"t","subject":"u7"}"#, #"{"jti":"t","issuedBefore":1}"#,
            #"{"jti":""}"#, #"{"jti":"t","margin":3601}"#, #"{"jti":"t","margin":-1}"#, #"{"issuer":"a|b","subject":"c"}"#,
            #"{"issuer":"i","issuedBefore":0}"#,
            #"{"issuer":"i","issuedBefore":9223372036854775807}"#, #"{"issuer":"i","issuedBefore":1800003600001}"#, #"{"jti":"a\u0000b"}"#,
            #"{"key":"aaaaaaaaaa"}"#,
        ])
    func invalid(_ body: String) async throws {
        try await AccessServer.with({ take(issuer: "i", &$0) }, environment: clock.environment) { server in
            let administrator = try server.key("[]", isAdmin: true).field
            // When
            let reply = try await server.post("/admin/revocations", administrator, body)
            // Then
            #expect(reply.status == 400)
            #expect(server.test.server.core?.access?.revocations.isEmpty == true)
        }
    }

    @Test("A time may be an hour ahead, and an issuer that the configuration does not have is refused with those that it has")
    func issuers() async throws {
        try await AccessServer.with({ take(issuer: "https://id", &$0) }, environment: clock.environment) { server in
            let administrator = try server.key("[]", isAdmin: true).field
            for target in [#""subject":"u7""#, #""issuedBefore":5"#] {
                let refused = try await server.post("/admin/revocations", administrator, #"{"issuer":"https://id/",\#(target)}"#)
                #expect(refused.status == 400 && refused.problem?.detail.contains("the configuration has 'https://id'") == true)
            }
            let ahead = #"{"issuer":"https://id","issuedBefore":\#(clock.wall + 3_600_000)}"#
            #expect(try await server.post("/admin/revocations", administrator, ahead).status == 201)
        }
    }

    @Test("A revocation ends the waits of its principal alone, and its writes that wait are refused")
    func waits() async throws {
        try await AccessServer.with { server in
            // Given a poll and a stream of one principal, and a poll of another
            let (stored, revoked) = try server.key(Self.all)
            let other = try server.key(Self.all).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", other, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop", other).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let ended = server.pollTwice(target, revoked)
            async let stream = server.stream(target, revoked)
            async let remaining = server.test.request("GET", target, [other])
            try await server.test.waitUntil(waiting: 3, in: "shop", other)
            // When
            let core = try #require(server.test.server.core)
            let access = try #require(core.access)
            let now = core.environment.wallMilliseconds()
            let principal = Revocation.Target.principal(Principal(key: stored.id))
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                do {
                    try core.revoke(Revocation(principal, issuedBefore: now, created: now), access) { result in
                        continuation.resume(with: result)
                    }
                } catch { continuation.resume(throwing: error) }
            }
            // Then
            #expect(try await ended == [401, 401])
            #expect(try await stream.isEmpty)
            #expect(try await server.request("PUT", "/v1/shop/records/a/2", revoked, TestServer.json, "1").status == 401)
            try await server.test.waitUntil(waiting: 1, in: "shop", other)
            _ = try await server.request("PUT", "/v1/shop/records/a/2", other, TestServer.json, "1")
            #expect(try await remaining.status == 200)
        }
    }

    @Test("A request behind a poll is decided when its turn has come, and so by a revocation during the poll")
    func pipelined() async throws {
        try await AccessServer.with { server in
            // Given a poll that waits, and a read behind it on the same connection
            let (stored, revoked) = try server.key(Self.all)
            let other = try server.key(Self.all, isAdmin: true).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", other, TestServer.json, #""secret""#)
            let cursor = try #require(try await server.request("GET", "/v1/shop", other).cursor)
            async let replies = server.test.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=\(cursor)&wait=60", [revoked])
                try connection.sendRequest("GET", "/v1/shop/records/a/1", [revoked])
                return [try connection.readReply(), try connection.readReply()]
            }
            try await server.test.waitUntil(waiting: 1, in: "shop", other)
            // When its key is revoked
            #expect(try await server.request("DELETE", "/admin/keys/\(stored.id)", other).status == 200)
            // Then neither shows anything
            let received = try await replies
            #expect(received.map(\.status) == [401, 401])
            #expect(!received.contains { $0.text.contains("secret") })
        }
    }

    @Test("With a margin, requests that wait receive changes until it ends, and new ones are refused at once")
    func margin() async throws {
        let clock = clock
        try await AccessServer.with(environment: clock.environment) { server in
            // Given two polls of a key, one of them for a collection that does not change, and an administrator
            let (stored, revoked) = try server.key(Self.all)
            let other = try server.key(Self.all, isAdmin: true).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", other, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop", other).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let changed = server.request("GET", target + "&collection=a", revoked)
            async let unchanged = server.request("GET", target + "&collection=b", revoked)
            try await server.test.waitUntil(waiting: 2, in: "shop", other)
            // When
            let core = try #require(server.test.server.core)
            let access = try #require(core.access)
            let now = clock.wall
            let principal = Revocation.Target.principal(Principal(key: stored.id))
            try core.revoke(Revocation(principal, issuedBefore: now, created: now, margin: 30_000), access) { _ in }
            // Then
            #expect(try await server.request("GET", "/v1/shop/records/a/1", revoked).status == 401)
            #expect(try await server.request("PUT", "/v1/shop/records/a/2", other, TestServer.json, "1").status == 201)
            #expect(try await changed.status == 200)
            clock.advance(29_999)
            #expect(!access.takeEndedGracePeriods())
            clock.advance(1)
            core.endRevokedWaits()
            #expect(try await unchanged.status == 401)
        }
    }

    @Test("The waits of a replaced secret end with its overlap")
    func overlap() async throws {
        let clock = clock
        try await AccessServer.with(environment: clock.environment) { server in
            // Given a poll and a stream by a key's first secret
            let (stored, former) = try server.key(Self.all)
            let administrator = try server.key(Self.all, isAdmin: true).field
            _ = try await server.request("PUT", "/v1/shop/records/a/1", administrator, TestServer.json, "1")
            let cursor = try #require(try await server.request("GET", "/v1/shop", administrator).cursor)
            let target = "/v1/shop/changes?since=\(cursor)&wait=60"
            async let poll = server.request("GET", target, former)
            async let stream = server.stream(target, former)
            try await server.test.waitUntil(waiting: 2, in: "shop", administrator)
            // When it is replaced, and its overlap ends
            let rotated = try await server.post("/admin/keys/\(stored.id)/rotate", administrator, #"{"overlap":30}"#)
            #expect(rotated.status == 200)
            let core = try #require(server.test.server.core)
            let access = try #require(core.access)
            clock.advance(29_999)
            #expect(!access.takeEndedGracePeriods())
            try await server.test.waitUntil(waiting: 2, in: "shop", administrator)
            clock.advance(1)
            // The server's own timer may have noticed it first.
            _ = access.takeEndedGracePeriods()
            core.endRevokedWaits()
            // Then
            #expect(try await poll.status == 401)
            #expect(try await stream.isEmpty)
        }
    }

    @Test("Revocations are bounded")
    func bound() async throws {
        try await AccessServer.with { server in
            // Given
            let administrator = try server.key("[]", isAdmin: true).field
            let access = try #require(server.test.server.core?.access)
            let now = ServerEnvironment.system.wallMilliseconds()
            for number in 0..<RevocationList.maximumCount {
                try access.revoke(Revocation(.token("\(number)"), issuedBefore: now, created: now))
            }
            // When
            let refused = try await server.post("/admin/revocations", administrator, #"{"jti":"more"}"#)
            let known = try await server.post("/admin/revocations", administrator, #"{"jti":"7"}"#)
            let list = try await server.request("GET", "/admin/revocations", administrator)
            // Then
            #expect(try refused.status == 409 && refused.message(Problem.self).code == .tooLarge && known.status == 201)
            let text = String(decoding: list.body, as: UTF8.self)
            #expect(text.hasSuffix(#""count":100000}"#) && text.count(where: { $0 == "{" }) == 1_001)
        }
    }

    @Test("A revocation is removed, from the disk too, when no token can be as old")
    func removal() async throws {
        // Given
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        var configuration = RecordServerConfiguration(directory: path)
        configuration.requiresKeys = true
        try await TestServer.with(configuration, environment: clock.environment) { server in
            let core = try #require(server.server.core)
            let access = try #require(core.access)
            for id in ["early", "late"] {
                let now = clock.wall
                let revocation = Revocation(.token(id), issuedBefore: now, created: now)
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    do throws(RevocationError) {
                        try core.revoke(revocation, access) { continuation.resume(with: $0.mapError { $0 }) }
                    } catch { continuation.resume(throwing: error) }
                }
                clock.advance(86_400_000)
            }
            // When
            clock.advance(Revocation.retention - 86_400_000)
            core.removeExpiredRevocations()
            // Then
            #expect(access.revocations.map(\.target) == [.token("late")])
        }
        let store = try SQLiteRecordStore(directory: path, seed: 1)
        #expect(try store.accessRows().map(\.name) == ["token:late"])
    }

    @Test("A wall clock that is ahead for a while removes no revocation")
    func wrongClock() async throws {
        try await AccessServer.with(environment: clock.environment) { server in
            // Given
            let core = try #require(server.test.server.core)
            let access = try #require(core.access)
            try access.revoke(Revocation(.token("t"), issuedBefore: clock.wall, created: clock.wall))
            // When the clock is 32 days ahead at one compaction
            let days: Int64 = 32 * 86_400_000
            clock.set(wallForwardBy: days)
            core.removeExpiredRevocations()
            clock.set(wallForwardBy: -days)
            core.removeExpiredRevocations()
            // Then
            #expect(access.revocations.count == 1)
            // When as many days pass
            clock.advance(days)
            core.removeExpiredRevocations()
            // Then
            #expect(access.revocations.isEmpty)
        }
    }

    @Test("A server that starts with a wall clock that is ahead removes no revocation")
    func wrongClockAtAStart() async throws {
        // Given
        let directory = TemporaryDirectory()
        var configuration = RecordServerConfiguration(directory: directory.file("data"))
        configuration.requiresKeys = true
        let revocation = Revocation(.token("t"), issuedBefore: clock.wall, created: clock.wall)
        try await TestServer.with(configuration, environment: clock.environment) { server in
            let core = try #require(server.server.core)
            let access = try #require(core.access)
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                do throws(RevocationError) {
                    try core.revoke(revocation, access) { continuation.resume(with: $0.mapError { $0 }) }
                } catch { continuation.resume(throwing: error) }
            }
        }
        // When
        let days: Int64 = 32 * 86_400_000
        clock.set(wallForwardBy: days)
        for _ in 0..<2 {
            try await TestServer.with(configuration, environment: clock.environment) { server in
                let core = try #require(server.server.core)
                core.removeExpiredRevocations()
                // Then
                #expect(core.access?.revocations.map(\.target) == [revocation.target])
            }
        }
        // When the clock is right, and as many days pass
        clock.set(wallForwardBy: -days)
        try await TestServer.with(configuration, environment: clock.environment) { server in
            clock.advance(days)
            let core = try #require(server.server.core)
            core.removeExpiredRevocations()
            // Then
            #expect(core.access?.revocations.isEmpty == true)
        }
    }

    @Test("A damaged row has no effect", arguments: ["", "{", #"{"issuedBefore":-1}"#, #"{"created":9223372036854775807}"#, "[]"])
    func damagedRow(_ text: String) {
        let rows = ["token:a", "other:a", "a", ":"].map { AccessRow(.revocation, name: $0, value: Array(text.utf8)) }
        #expect(AccessControl(rows: rows, environment: clock.environment).revocations.isEmpty)
    }
}
