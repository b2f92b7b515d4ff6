import FreshetTestSupport
import Glibc
import Testing

@testable import FreshetTrust

@Suite("An OpenSSL without digests") struct CryptographySelfTestTests {
    /// Runs the closure with an OpenSSL, which reads its file at its first use, of the provider that has encodings alone.
    fileprivate static func withoutDigests(_ body: () throws -> Void) rethrows {
        let folder = TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        let text = "openssl_conf = a\n[a]\nproviders = b\n[b]\nbase = c\n[c]\nactivate = 1\n"
        folder.write(Array(text.utf8), to: "openssl.cnf")
        setenv("OPENSSL_CONF", folder.file("openssl.cnf"), 1)
        try body()
    }

    @Test("The self-test passes where OpenSSL is whole")
    func whole() throws { try CryptographySelfTest.run() }

    @Test("No signature is valid where HMAC is missing, not even an empty one, and the self-test fails")
    func withoutHMAC() async {
        await #expect(processExitsWith: .success) {
            try CryptographySelfTestTests.withoutDigests {
                let (message, secret) = (Array("a.b".utf8)[...], Secret([UInt8](repeating: 7, count: 32)))
                let key = try VerificationKey(secret: secret)
                #expect(MessageAuthentication.code(of: message, secret) == nil)
                #expect(!key.verifies([], of: message) && !key.verifies([UInt8](repeating: 0, count: 32), of: message))
                #expect(throws: CryptographySelfTest.Failure.self) { try CryptographySelfTest.run() }
            }
        }
    }

    @Test("The process ends where a digest cannot be made")
    func withoutDigest() async {
        await #expect(processExitsWith: .failure) {
            CryptographySelfTestTests.withoutDigests { _ = SHA256Digest(of: [1]) }
        }
    }
}
