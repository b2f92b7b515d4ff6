/// Checks that libcrypto makes the digests and codes by which keys and tokens are judged. A configuration of OpenSSL may
/// leave them out.
package enum CryptographySelfTest {
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        package let description =
            "OpenSSL does not compute SHA-256 and HMAC, by which keys and tokens are verified: unset OPENSSL_CONF, or correct that file (it must "
            + "activate a provider with SHA2-256 and HMAC, such as 'default') and OPENSSL_MODULES"
    }

    /// Compares a digest and a code with published ones (FIPS 180-4, RFC 4231 §4.3). Takes some microseconds.
    package static func run() throws(Failure) {
        let digest: [UInt8] = [
            0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA, 0x41, 0x41, 0x40, 0xDE, 0x5D, 0xAE, 0x22, 0x23,
            0xB0, 0x03, 0x61, 0xA3, 0x96, 0x17, 0x7A, 0x9C, 0xB4, 0x10, 0xFF, 0x61, 0xF2, 0x00, 0x15, 0xAD,
        ]
        let code: [UInt8] = [
            0x5B, 0xDC, 0xC1, 0x46, 0xBF, 0x60, 0x75, 0x4E, 0x6A, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xC7,
            0x5A, 0x00, 0x3F, 0x08, 0x9D, 0x27, 0x39, 0x83, 0x9D, 0xEC, 0x58, 0xB9, 0x64, 0xEC, 0x38, 0x43,
        ]
        let message = Array("what do ya want for nothing?".utf8)
        guard SHA256Digest.digest(of: Array("abc".utf8)) == digest,
            MessageAuthentication.code(of: message[...], Secret(Array("Jefe".utf8))) == code
        else { throw Failure() }
    }
}
