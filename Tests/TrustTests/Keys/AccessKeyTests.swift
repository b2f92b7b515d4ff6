import FreshetTestSupport
import Testing

@testable import FreshetTrust

struct AccessKeyTests {
    private static func key(_ seed: UInt64) -> AccessKey {
        var random = SeededGenerator(seed: seed)
        return AccessKey(using: &random)
    }

    @Test func aNewKeyIsReadAgain() throws {
        // Given
        let key = Self.key(1)
        let token = key.token.exposed
        // When
        let read = try AccessKey(token)
        // Then
        #expect(read.id == key.id && read.secret.matches(key.secret) && read.digest == key.digest)
        let text = String(decoding: token, as: UTF8.self)
        #expect(text.wholeMatch(of: /fk_[a-z2-7]{10}_[0-9A-Za-z]{49}/) != nil)
        #expect(token.count == 63 && AccessKey.isKey(token) && !AccessKey.isKey(Array("eyJh".utf8)))
    }

    @Test func theCheckIsTheCRC32OfGzip() {
        // The check value of the catalogue of CRC algorithms, for "123456789".
        #expect(CRC32.checksum("123456789".utf8) == 0xCBF4_3926)
        #expect(Base62.text(.max, count: 6) == Array("4gfFC3".utf8))
    }

    @Test func keysOfOtherRandomNumbersDiffer() {
        #expect(Set((0..<1_000 as Range<UInt64>).map { Self.key($0).id }).count == 1_000)
        #expect(!Self.key(1).secret.matches(Self.key(2).secret))
    }

    @Test func eachChangedCharacterIsDetected() {
        // Given
        let token = Self.key(3).token.exposed
        for index in token.indices {
            for byte in [UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "0"), 0, 0xFF] where token[index] != byte {
                // When
                var changed = token
                changed[index] = byte
                // Then
                #expect(throws: AccessKeyError.self) { try AccessKey(changed) }
            }
        }
    }

    @Test func eachOtherLengthIsRefused() {
        let token = Self.key(4).token.exposed
        for count in 0..<token.count { #expect(throws: AccessKeyError.self) { try AccessKey(Array(token.prefix(count))) } }
        #expect(throws: AccessKeyError.wrongLength(64)) { try AccessKey(token + [UInt8(ascii: "a")]) }
        #expect(throws: AccessKeyError.noKey) { try AccessKey(Array("eyJhbGciOiJub25lIn0".utf8)) }
    }

    @Test func identifiersHaveOneForm() {
        #expect(KeyIdentifier("abcdefgh27") != nil)
        for text in ["", "abcdefgh2", "abcdefgh277", "abcdefgh2A", "abcdefgh21", "abcdefgh2/"] { #expect(KeyIdentifier(text) == nil) }
    }
}
