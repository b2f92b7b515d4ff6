import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

struct SessionTableTests {
    private var fixture = SessionFixture()

    @Test mutating func aSessionIsFoundByItsCredential() {
        let unknown = fixture.find("a")
        #expect(unknown == "unknown")
        let admitted = fixture.admit("a")
        #expect(admitted == "id|u7")
        let found = [fixture.find("a"), fixture.find("b"), fixture.find("")]
        #expect(found == ["id|u7", "unknown", "unknown"])
    }

    @Test mutating func aSessionEndsWithItsToken() {
        _ = fixture.admit("a")
        fixture.pass(999_999)
        let before = fixture.find("a")
        #expect(before == "id|u7")
        fixture.pass(1)
        let after = [fixture.find("a"), fixture.find("a")]
        #expect(after == ["expired", "unknown"], "then the token is verified again")
    }

    @Test mutating func aClockThatIsSetDoesNotProlongASession() {
        // Given
        _ = fixture.admit("a")
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        // When the wall clock is set back by a day
        var back = fixture
        back.now = TimeReading(wall: fixture.now.wall - 86_400_000, monotonic: fixture.now.monotonic + 999_999)
        #expect(session.deadline(at: back.now) == fixture.now.monotonic + 1_000_000)
        let before = back.find("a")
        back.now = TimeReading(wall: back.now.wall, monotonic: back.now.monotonic + 1)
        let after = back.find("a")
        // Then
        #expect(before == "id|u7" && after == "expired")
        // When it is set forward
        fixture.now = TimeReading(wall: 2_000_000, monotonic: fixture.now.monotonic)
        #expect(session.deadline(at: fixture.now) == fixture.now.monotonic)
        let forward = fixture.find("a")
        #expect(forward == "expired")
    }

    @Test mutating func aKeyWithoutEndHasNoDeadline() {
        var random = SeededGenerator(seed: 1)
        let key = StoredKey(AccessKey(using: &random), name: "a", rights: .all, created: 5)
        let session = Session(key, expires: nil, generation: 0, at: fixture.now)
        #expect(session.deadline(at: fixture.now) == nil && !session.isExpired(at: TimeReading(wall: .max, monotonic: .max)))
        let far = Session(key, expires: .max, generation: 0, at: TimeReading(wall: -5, monotonic: 50))
        #expect(far.deadline(at: fixture.now) == .max - fixture.now.wall + fixture.now.monotonic)
    }

    @Test mutating func aRefusalIsRememberedForASecond() {
        fixture.table.noteRefusal(.token(.badSignature), of: Array("bad".utf8), at: fixture.now)
        fixture.pass(999)
        let during = [fixture.find("bad"), fixture.find("other")]
        #expect(
            during == [
                "token(the signature does not match the issuer's key: check that the token is whole, and from this issuer)", "unknown",
            ])
        fixture.pass(1)
        let after = fixture.find("bad")
        #expect(after == "unknown")
    }

    @Test mutating func theTableIsBounded() {
        // Given a table for about 100 sessions with the rights of one range
        fixture.table = SessionTable(bytes: 100 * 804, refusals: 100)
        let credential = String(repeating: "x", count: 95)
        // When 10,000 are admitted, and one of them is used all the time
        _ = fixture.admit("used" + credential)
        for number in 0..<10_000 {
            _ = fixture.admit("\(number)" + credential)
            fixture.table.noteRefusal(.expired, of: Array("bad \(number)".utf8), at: fixture.now)
            #expect(fixture.table.count <= 102)
            let used = fixture.find("used" + credential)
            #expect(used == "id|u7")
        }
        // Then
        let found = [fixture.find("9999" + credential), fixture.find("1" + credential)]
        #expect(found == ["id|u7", "unknown"])
    }

    @Test mutating func largeRightsTakeMoreOfTheTable() throws {
        // Given
        fixture.table = SessionTable(bytes: 1 << 20)
        let ranges = (0..<64).map { KeyRange.collection("c", prefix: "\($0)" + String(repeating: "x", count: 500)) }
        let grant = try #require(Grant(namespaces: .all, ranges: RangeSet(ranges), verbs: Verbs(Verb.read)))
        let token = VerifiedToken(
            principal: Principal(issuer: "id", subject: "u7"), issuer: "id", tokenID: nil, issuedAt: 0, expires: .max,
            rights: Rights([grant]))
        // When
        for number in 0..<1_000 { _ = fixture.admit("\(number)", token) }
        // Then
        #expect(fixture.table.count < 30)
    }

    @Test mutating func allCredentialsAreVerifiedAgainAfterAChange() {
        // Given
        _ = fixture.admit("a")
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        // When
        fixture.revocations.requireVerification()
        // Then
        let found = [fixture.find("a"), fixture.admit("a"), fixture.find("a")]
        #expect(!session.isCurrent(fixture.revocations, at: fixture.now) && found == ["stale", "id|u7", "id|u7"])
    }

    @Test mutating func aVerificationThatBeganBeforeAChangeIsNotAdmitted() {
        // Given a session whose credential was verified by the former keys
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        // When
        fixture.revocations.requireVerification()
        let lookup = fixture.table.admit(session, for: Array("a".utf8), revocations: fixture.revocations, at: fixture.now)
        // Then
        guard case .stale = lookup else {
            Issue.record("\(lookup)")
            return
        }
        #expect(fixture.table.count == 0)
    }

    @Test mutating func aCurrentSessionNeedsNoTable() throws {
        let session = Session(SessionFixture.token(), generation: fixture.revocations.generation, at: fixture.now)
        #expect(session.isCurrent(fixture.revocations, at: fixture.now))
        try fixture.revocations.add(Revocation(.token("t"), issuedBefore: 0, created: 0), at: fixture.now)
        #expect(!session.isCurrent(fixture.revocations, at: fixture.now))
        #expect(!session.isCurrent(RevocationList(), at: TimeReading(wall: 2_000_000, monotonic: 50_000)))
    }
}
