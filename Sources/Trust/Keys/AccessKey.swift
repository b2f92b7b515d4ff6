/// A long-lived token for a backend, a person or the command line: `fk_<id>_<secret><check>`.
///
/// The secret has 43 characters of base62, 256 bits. The check has 6, the CRC-32 of all characters before it, as
/// GitHub's tokens have: it detects a typing error without a lookup, and lets secret scanners confirm a match.
package struct AccessKey: Sendable {
    package static let prefix = "fk_"
    static let secretCount = 43
    static let checkCount = 6
    /// The bytes of every key.
    package static let count = prefix.utf8.count + KeyIdentifier.count + 1 + secretCount + checkCount

    package let id: KeyIdentifier
    package let secret: Secret

    /// A new key. `random` must be cryptographically secure, as `SystemRandomNumberGenerator` is.
    package init(using random: inout some RandomNumberGenerator) { self.init(id: KeyIdentifier(using: &random), using: &random) }

    /// A new secret for an existing key.
    package init(id: KeyIdentifier, using random: inout some RandomNumberGenerator) {
        self.id = id
        secret = Secret((0..<Self.secretCount).map { _ in Base62.alphabet[Int.random(in: 0..<62, using: &random)] })
    }

    /// Reads a token. O(1): a longer text is refused by its length.
    package init(_ token: [UInt8]) throws(AccessKeyError) {
        guard token.starts(with: Self.prefix.utf8) else { throw .noKey }
        guard token.count == Self.count else { throw .wrongLength(token.count) }
        let idEnd = Self.prefix.utf8.count + KeyIdentifier.count
        let secret = token[(idEnd + 1)..<(Self.count - Self.checkCount)]
        guard let id = KeyIdentifier(String(decoding: token[Self.prefix.utf8.count..<idEnd], as: UTF8.self)),
            token[idEnd] == UInt8(ascii: "_"), secret.allSatisfy(Base62.alphabet.contains),
            Self.check(of: token.dropLast(Self.checkCount)).elementsEqual(token.suffix(Self.checkCount))
        else { throw .wrongCheck }
        self.id = id
        self.secret = Secret(Array(secret))
    }

    /// Whether a token has the form of a key, rather than that of a JWT.
    package static func isKey(_ token: [UInt8]) -> Bool { token.starts(with: prefix.utf8) }

    /// The whole token.
    package var token: Secret {
        let text = Array("\(Self.prefix)\(id)_".utf8) + secret.exposed
        return Secret(text + Self.check(of: text))
    }

    /// The form in which a server stores the secret. A slow hash would protect a guessable secret, which 256 random
    /// bits are not, and would let strangers burn the server's time.
    package var digest: SHA256Digest { SHA256Digest(of: secret.exposed) }

    private static func check(of bytes: some Sequence<UInt8>) -> [UInt8] { Base62.text(CRC32.checksum(bytes), count: checkCount) }
}

/// Why a text is no key. No case has a part of the text.
package enum AccessKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case noKey
    case wrongLength(Int)
    case wrongCheck

    package var description: String {
        switch self {
        case .noKey: "this is no key: a key begins with fk_"
        case .wrongLength(let count): "a key has \(AccessKey.count) characters, and this one \(count): copy all of it"
        case .wrongCheck: "the key's check does not match: a character was changed, so copy it again"
        }
    }
}

/// Numbers of digits, upper-case and lower-case letters.
enum Base62 {
    static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    static func text(_ value: UInt32, count: Int) -> [UInt8] {
        var (text, rest) = ([UInt8](repeating: alphabet[0], count: count), Int(value))
        for index in text.indices.reversed() {
            text[index] = alphabet[rest % 62]
            rest /= 62
        }
        return text
    }
}

/// The CRC-32 of IEEE 802.3, as gzip uses it (RFC 1952 §8).
enum CRC32 {
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
