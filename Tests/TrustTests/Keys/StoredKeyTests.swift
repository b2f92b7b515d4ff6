import FreshetTestSupport
import Testing

@testable import FreshetTrust

struct StoredKeyTests {
    private var random = SeededGenerator(seed: 9)
    private let key: AccessKey
    private var stored: StoredKey

    init() {
        key = AccessKey(using: &random)
        stored = StoredKey(key, name: "backend", rights: .all, created: 1_000, expires: 5_000)
    }

    @Test func theKeyIsValidUntilItExpires() throws {
        #expect(try stored.check(key, at: 1_000) == 5_000)
        #expect(try stored.check(key, at: 4_999) == 5_000)
        #expect(throws: KeyRefusal.expired(5_000)) { try stored.check(key, at: 5_000) }
    }

    @Test mutating func anotherSecretIsUnknown() {
        let other = AccessKey(id: key.id, using: &random)
        let otherID = AccessKey(using: &random)
        #expect(throws: KeyRefusal.unknown) { try stored.check(other, at: 1_000) }
        #expect(throws: KeyRefusal.unknown) { try stored.check(otherID, at: 1_000) }
        // Also once the key has ended: only a holder of the secret learns that.
        #expect(throws: KeyRefusal.unknown) { try stored.check(other, at: 9_000) }
    }

    @Test mutating func aDisabledKeyIsRefusedUntilItIsEnabled() throws {
        stored.isDisabled = true
        #expect(throws: KeyRefusal.disabled) { try stored.check(key, at: 1_000) }
        stored.isDisabled = false
        #expect(try stored.check(key, at: 1_000) == 5_000)
    }

    @Test mutating func bothSecretsAreValidDuringTheOverlap() throws {
        // Given
        let next = AccessKey(id: key.id, using: &random)
        // When
        stored.rotate(to: next, overlap: 1_000, at: 2_000)
        // Then
        #expect(try stored.check(key, at: 2_999) == 3_000)
        #expect(try stored.check(next, at: 2_999) == 5_000)
        #expect(throws: KeyRefusal.replaced(3_000)) { try stored.check(key, at: 3_000) }
        #expect(try stored.check(next, at: 3_000) == 5_000)
    }

    @Test mutating func aSecondRotationEndsTheFirstSecret() throws {
        // Given
        let (second, third) = (AccessKey(id: key.id, using: &random), AccessKey(id: key.id, using: &random))
        stored.rotate(to: second, overlap: .max, at: 2_000)
        #expect(try stored.check(key, at: 4_999) == 5_000)
        // When
        stored.rotate(to: third, overlap: 1_000, at: 2_100)
        // Then
        #expect(throws: KeyRefusal.unknown) { try stored.check(key, at: 2_200) }
        #expect(try stored.check(second, at: 2_200) == 3_100)
    }

    @Test mutating func theDayOfUseIsStoredOnceADay() {
        // When
        var changed: [Bool] = []
        for time: Int64 in [86_400_000, 86_400_001, 172_800_000, 86_400_000] { changed.append(stored.noteUse(at: time)) }
        // Then the last one, at which the clock was set back, changes nothing
        #expect(changed == [true, false, true, false])
        #expect(stored.lastUsed == 2)
    }

    @Test mutating func aKeyFromTheStoreIsTheSame() {
        stored.rotate(to: AccessKey(id: key.id, using: &random), overlap: 10, at: 2_000)
        _ = stored.noteUse(at: 86_400_000)
        let restored = StoredKey(
            id: stored.id, name: "backend", rights: .all, isAdmin: false, created: 1_000, expires: 5_000, isDisabled: false,
            digest: stored.digest, previous: stored.previous, lastUsed: stored.lastUsed)
        #expect(restored == stored)
    }
}
