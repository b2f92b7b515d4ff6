import FreshetTestSupport
import Testing

@testable import FreshetTrust

/// Signatures that a lenient verifier accepts.
struct SignatureEdgeTests {
    private let message = Array("header.claims".utf8)

    // MARK: RSASSA-PKCS1-v1_5

    /// The DigestInfo of RFC 8017 §9.2, with SHA-256.
    private static let digestInfo: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20,
    ]

    /// A block of 256 bytes: the beginning, as many 0xFF as fit, a zero, and the end.
    private static func block(_ end: [UInt8], begin: [UInt8] = [0, 1], padding: Int? = nil, after: [UInt8] = []) -> [UInt8] {
        let count = padding ?? 256 - begin.count - 1 - end.count - after.count
        let block = begin + [UInt8](repeating: 0xFF, count: count) + [0] + end + after
        return block + [UInt8](repeating: 0, count: 256 - block.count)
    }

    @Test func onlyTheOneEncodingIsAnRSASignature() throws {
        // Given blocks that the private key has turned into signatures
        let key = try TokenSigner.rs256.verificationKey()
        let digest = SHA256Digest(of: message).bytes
        let info = Self.digestInfo + digest
        func isAccepted(_ block: [UInt8]) -> Bool { key.verifies(TokenSigner.rs256.signRaw(block), of: message[...]) }
        #expect(isAccepted(Self.block(info)))
        var withoutNull = info
        withoutNull.replaceSubrange(1..<17, with: [0x2F, 0x30, 0x0B] + info[4..<15])
        var longLength = info
        longLength.replaceSubrange(0..<2, with: [0x30, 0x81, 0x31])
        var sha1 = info
        sha1[14] = 0x04
        // Then
        let others: [(String, [UInt8])] = [
            ("encryption's block type", Self.block(info, begin: [0, 2])), ("no block type", Self.block(info, begin: [0, 0])),
            ("a first byte", Self.block(info, begin: [1, 1])), ("eight bytes of padding and zeros behind", Self.block(info, padding: 8)),
            ("no padding", Self.block(info, padding: 0)), ("a byte behind", Self.block(info, after: [0])),
            ("bytes behind", Self.block(info, after: [UInt8](repeating: 0x5A, count: 64))), ("no NULL", Self.block(withoutNull)),
            ("a long length", Self.block(longLength)), ("another digest's name", Self.block(sha1)),
            ("the digest alone", Self.block(digest)),
            ("another digest", Self.block(Self.digestInfo + digest.reversed())), ("a short digest", Self.block(info.dropLast())),
            ("nothing", Self.block([])),
        ]
        for (name, block) in others { #expect(!isAccepted(block), "\(name)") }
    }

    @Test func aNumberBeyondTheModulusIsNoRSASignature() throws {
        // Given a signature so small that signature + modulus still has 256 bytes
        let (key, modulus) = (try TokenSigner.rs256.verificationKey(), TokenSigner.rs256.number("n"))
        var message = message
        var good = TokenSigner.rs256.sign(message)
        func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8]? {
            var (bytes, carry) = (left, 0)
            for place in left.indices.reversed() {
                carry += Int(left[place]) + Int(right[place])
                bytes[place] = UInt8(carry & 255)
                carry >>= 8
            }
            return carry == 0 ? bytes : nil
        }
        var other = sum(good, modulus)
        while other == nil {
            message.append(0)
            good = TokenSigner.rs256.sign(message)
            other = sum(good, modulus)
        }
        // Then
        let second = try #require(other)
        #expect(key.verifies(good, of: message[...]) && !key.verifies(second, of: message[...]))
        #expect(!key.verifies(modulus, of: message[...]))
    }

    // MARK: Ed25519

    @Test func aNumberBeyondTheOrderIsNoEd25519Signature() throws {
        // Given the order of RFC 8032 §5.1, the lowest byte first
        let order: [UInt8] =
            [0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14]
            + [UInt8](repeating: 0, count: 15) + [0x10]
        let (key, good) = (try TokenSigner.edDSA.verificationKey(), TokenSigner.edDSA.sign(message))
        var (other, carry) = (good, 0)
        for place in 0..<32 {
            carry += Int(good[32 + place]) + Int(order[place])
            other[32 + place] = UInt8(carry & 255)
            carry >>= 8
        }
        // Then
        #expect(key.verifies(good, of: message[...]) && carry == 0 && !key.verifies(other, of: message[...]))
        #expect(!key.verifies([UInt8](repeating: 0, count: 64), of: message[...]))
        #expect(!key.verifies(good[..<32] + order, of: message[...]))
    }

    // MARK: Threads

    @Test func threadsShareAKey() async throws {
        // Given
        let keys = try TokenSigner.all.map { try $0.verificationKey() }
        let signatures = TokenSigner.all.map { $0.sign(message) }
        // When
        let results = await withTaskGroup(of: Bool.self) { group in
            for task in 0..<64 {
                group.addTask { [message] in
                    (0..<8).allSatisfy { _ in
                        keys[task % 4].verifies(signatures[task % 4], of: message[...])
                            && !keys[task % 4].verifies(signatures[(task + 1) % 4], of: message[...])
                    }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        // Then
        #expect(results)
    }
}
