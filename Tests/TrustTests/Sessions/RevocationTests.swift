import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

struct RevocationTests {
    private var fixture = SessionFixture()

    private mutating func revoke(_ target: Revocation.Target, issuedBefore: Int64 = 1_000_000, margin: Int64 = 0) throws {
        try fixture.revocations.add(
            Revocation(target, issuedBefore: issuedBefore, created: fixture.now.wall, margin: margin), at: fixture.now)
    }

    @Test mutating func exactlyTheSessionsOfThePrincipalEnd() throws {
        // Given
        _ = fixture.admit("a", SessionFixture.token("u7"))
        _ = fixture.admit("b", SessionFixture.token("u7"))
        _ = fixture.admit("c", SessionFixture.token("u8"))
        _ = fixture.admit("d", SessionFixture.token("u7", issuer: "other"))
        // When
        try revoke(.principal(Principal(issuer: "id", subject: "u7")))
        // Then
        let found = ["a", "b", "c", "d"].map { fixture.find($0) }
        #expect(found == ["revoked", "revoked", "id|u8", "other|u7"])
        let again = fixture.admit("a", SessionFixture.token("u7"))
        #expect(again == "revoked", "the token does not open another session")
        let new = fixture.admit("e", SessionFixture.token("u7", issuedAt: 1_000_000))
        #expect(new == "id|u7", "a later token does")
    }

    @Test mutating func oneTokenIsRevokedByItsID() throws {
        _ = fixture.admit("a", SessionFixture.token(tokenID: "t1", issuedAt: 999_999))
        _ = fixture.admit("b", SessionFixture.token(tokenID: "t2"))
        _ = fixture.admit("c")
        try revoke(.token("t1"), issuedBefore: 0)
        let found = ["a", "b", "c"].map { fixture.find($0) }
        #expect(found == ["revoked", "id|u7", "id|u7"])
    }

    @Test mutating func anIssuersTokensAreRevokedUpToATime() throws {
        _ = fixture.admit("a", SessionFixture.token("u7", issuedAt: 899_999))
        _ = fixture.admit("b", SessionFixture.token("u8", issuedAt: 900_000))
        _ = fixture.admit("c", SessionFixture.token("u7", issuer: "other", issuedAt: 1))
        try revoke(.issuer("id"), issuedBefore: 900_000)
        let found = ["a", "b", "c"].map { fixture.find($0) }
        #expect(found == ["revoked", "id|u8", "other|u7"])
    }

    @Test mutating func aTokenThatDoesNotStateItsTimeIsRevokedByEachTime() throws {
        _ = fixture.admit("a", SessionFixture.token(issuedAt: 0))
        try revoke(.issuer("id"), issuedBefore: 1)
        let found = fixture.find("a")
        #expect(found == "revoked")
    }

    @Test mutating func aKeyIsRevoked() throws {
        // Given
        var random = SeededGenerator(seed: 1)
        let key = AccessKey(using: &random)
        let stored = StoredKey(key, name: "a", rights: .all, created: 5)
        let session = Session(stored, expires: nil, generation: fixture.revocations.generation, at: fixture.now)
        // When
        try revoke(.key(key.id), issuedBefore: 0)
        // Then
        #expect(fixture.revocations.revocation(of: session)?.waitsEnd == 1_000_000)
        var other = RevocationList()
        try other.add(Revocation(.principal(session.principal), issuedBefore: 6, created: 6), at: fixture.now)
        #expect(other.revocation(of: session) != nil)
    }

    @Test mutating func aRevocationEndsWaitsAtItsMargin() throws {
        try revoke(.principal(Principal(issuer: "id", subject: "u7")), margin: 30_000)
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        #expect(fixture.revocations.revocation(of: session)?.waitsEnd == 1_030_000)
        #expect(Revocation(.token("a"), issuedBefore: 0, created: 0, margin: .max).waitsEnd == 3_600_000)
    }

    @Test mutating func aRevocationWithoutAMarginEndsWaitsThatAnotherOneKept() throws {
        // Given a subject's session, whose waits may continue for a minute
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        try revoke(.principal(session.principal), margin: 60_000)
        #expect(fixture.revocations.keepsWaits(of: session, at: fixture.now))
        // When all tokens of the issuer are revoked at once
        try revoke(.issuer("id"))
        // Then
        #expect(!fixture.revocations.keepsWaits(of: session, at: fixture.now))
    }

    @Test mutating func aMarginEndsByEitherClock() throws {
        // Given waits that may continue for 30 s
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        let (wall, monotonic) = (fixture.now.wall, fixture.now.monotonic)
        try revoke(.principal(session.principal), margin: 30_000)
        // When the wall clock is set back by an hour
        let before = TimeReading(wall: wall - 3_570_001, monotonic: monotonic + 29_999)
        let early = fixture.revocations.takeEndedMargins(at: before)
        #expect(fixture.revocations.keepsWaits(of: session, at: before) && !early)
        // Then they end with the margin, and once
        let end = TimeReading(wall: wall - 3_570_000, monotonic: monotonic + 30_000)
        #expect(!fixture.revocations.keepsWaits(of: session, at: end))
        let ended = [fixture.revocations.takeEndedMargins(at: end), fixture.revocations.takeEndedMargins(at: end)]
        #expect(ended == [true, false])
        // And a clock that is set forward ends them
        #expect(!fixture.revocations.keepsWaits(of: session, at: TimeReading(wall: wall + 30_000, monotonic: monotonic)))
    }

    @Test mutating func aStoredMarginIsNoLongerThanItIsWhateverTheClock() throws {
        // Given a revocation of a server whose clock is an hour ahead
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        let created = fixture.now.wall + 3_600_000
        try fixture.revocations.add(
            Revocation(.principal(session.principal), issuedBefore: created, created: created, margin: 30_000), at: fixture.now)
        // Then
        fixture.pass(29_999)
        #expect(fixture.revocations.keepsWaits(of: session, at: fixture.now))
        fixture.pass(1)
        #expect(!fixture.revocations.keepsWaits(of: session, at: fixture.now))
    }

    @Test mutating func aRepeatedRevocationExtendsTheFirst() throws {
        let principal = Principal(issuer: "id", subject: "u7")
        try revoke(.principal(principal), issuedBefore: 950_000)
        try revoke(.principal(principal), issuedBefore: 100)
        #expect(fixture.revocations.count == 1)
        let found = fixture.admit("a", SessionFixture.token(issuedAt: 949_999))
        #expect(found == "revoked")
    }

    @Test mutating func expiredRevocationsAreRemoved() throws {
        // Given
        try revoke(.token("a"))
        try revoke(.token("b"), issuedBefore: 5_000_000)
        // When
        let early = fixture.revocations.removeExpired(longest: 86_400_000, at: 1_000_000 + 86_400_000 + 29_999)
        let late = fixture.revocations.removeExpired(longest: 86_400_000, at: 1_000_000 + 86_400_000 + 30_000)
        // Then
        #expect(early.isEmpty && late.map(\.target) == [.token("a")] && fixture.revocations.count == 1)
    }

    @Test mutating func aSessionDoesNotReturnWhenItsRevocationIsRemoved() throws {
        // Given a session that is not used until its revocation has been removed, and one that is used
        let far = SessionFixture.token(tokenID: "a", expires: 900_000_000)
        _ = fixture.admit("a", far)
        _ = fixture.admit("b", SessionFixture.token(tokenID: "b", expires: 900_000_000))
        try revoke(.token("a"))
        let used = fixture.find("b")
        // When
        fixture.pass(200_000_000)
        let removed = fixture.revocations.removeExpired(longest: 86_400_000, at: fixture.now.wall)
        // Then
        let found = [fixture.find("a"), fixture.find("b")]
        #expect(removed.count == 1 && used == "id|u7" && found == ["stale", "id|u7"])
    }

    @Test mutating func revocationsAreBounded() throws {
        for number in 0..<RevocationList.maximumCount { try revoke(.token("\(number)")) }
        #expect(throws: RevocationError.full) { try revoke(.token("more")) }
        try revoke(.token("7"))
        #expect(fixture.revocations.count == RevocationList.maximumCount)
    }

    @Test func aRowIsReadAgain() throws {
        var random = SeededGenerator(seed: 1)
        let targets: [Revocation.Target] = [
            .key(KeyIdentifier(using: &random)), .principal(Principal(issuer: "id", subject: "e\u{301}")), .token("t"), .issuer("id"),
        ]
        for target in targets {
            let revocation = Revocation(target, issuedBefore: 1, created: 2, margin: 3)
            let read = Revocation(kind: revocation.row.kind, name: revocation.row.name, issuedBefore: 1, created: 2, margin: 3)
            #expect(read == revocation)
        }
        #expect(Revocation(kind: "other", name: "a", issuedBefore: 0, created: 0, margin: 0) == nil)
        #expect(Revocation(kind: "key", name: "a", issuedBefore: 0, created: 0, margin: 0) == nil)
    }

    @Test("a random order of revocations and requests lets no revoked token through", arguments: 0..<100 as Range<UInt64>)
    mutating func randomOrders(seed: UInt64) throws {
        // Given tokens of five principals, and a plain list of revocations
        var random = SeededGenerator(seed: seed)
        fixture.table = SessionTable(bytes: 8 * 600, refusals: 8)
        var revoked: [(subject: String?, tokenID: String?, before: Int64)] = []
        for _ in 0..<300 {
            fixture.pass(Int64.random(in: 0...2_000, using: &random))
            let subject = "u\(Int.random(in: 0..<5, using: &random))"
            let issued = 900_000 + Int64.random(in: 0..<20, using: &random) * 20_000
            let token = SessionFixture.token(subject, tokenID: "\(subject)-\(issued)", issuedAt: issued, expires: issued + 800_000)
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                try revoke(.principal(token.principal), issuedBefore: issued)
                revoked.append((subject, nil, issued))
            case 1:
                try revoke(.token("\(subject)-\(issued)"), issuedBefore: 0)
                revoked.append((nil, "\(subject)-\(issued)", 0))
            case 2: _ = fixture.revocations.removeExpired(longest: 800_000, at: fixture.now.wall)
            default:
                // When
                var result = fixture.find("\(subject)-\(issued)")
                if ["unknown", "stale"].contains(result), fixture.now.wall < token.expires {
                    result = fixture.admit("\(subject)-\(issued)", token)
                }
                // Then
                let isRevoked = revoked.contains { $0.tokenID == "\(subject)-\(issued)" || ($0.subject == subject && issued < $0.before) }
                if isRevoked { #expect(result != token.principal.text) }
                if !isRevoked, fixture.now.wall < token.expires { #expect(result == token.principal.text) }
                if fixture.now.wall >= token.expires { #expect(result != token.principal.text) }
            }
        }
    }
}
