import FoundationEssentials
import FreshetTestSupport
import Testing

@testable import freshet

@Suite("A configuration of OpenSSL without digests", .timeLimit(.minutes(5)))
struct CryptographyTests {
    private let folder = TemporaryDirectory()

    private func write(_ text: String, to name: String) throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test(
        "No server starts, and no token is judged",
        arguments: [
            "openssl_conf = a\n[a]\nproviders = b\n[b]\nbase = c\n[c]\nactivate = 1\n",
            "openssl_conf = a\n[a]\nalg_section = b\n[b]\ndefault_properties = fips=yes\n",
        ])
    func refuses(openssl: String) async throws {
        // Given a token that nobody has signed
        _ = try write(String(repeating: "s", count: 32), to: "secret")
        let configuration = try write(
            """
            {"listen": [{"address": "127.0.0.1:0"}],
             "issuers": [{"issuer": "i", "audience": "freshet", "keys": {"secret": "secret"}}],
             "roles": {"till": [{"ns": "shop", "in": ["a"], "may": ["read"]}]}}
            """, to: "freshet.json")
        let now = Int64(Date().timeIntervalSince1970)
        let claims = #"{"iss":"i","aud":"freshet","sub":"u","iat":\#(now),"exp":\#(now + 600),"freshet_role":"till"}"#
        let signed = TokenSigner.hs256.token(claims: claims)
        let dot = try #require(signed.lastIndex(of: UInt8(ascii: ".")))
        let unsigned = try write(String(decoding: signed[...dot], as: UTF8.self), to: "token")
        let variables = ["OPENSSL_CONF": try write(openssl, to: "openssl.cnf")]
        for arguments in [
            ["token", "inspect", unsigned, "--config", configuration], ["serve", "--memory", "--port", "0"],
            ["serve", "--data", folder.file("data"), "--config", configuration],
        ] {
            // When
            let ending = try await Program()(arguments, variables: variables)
            // Then
            #expect(ending.status == freshet.ExitStatus.software.rawValue && ending.error.contains("OPENSSL_CONF"), "\(ending.error)")
            #expect(!ending.output.contains("yes") && !ending.output.contains("listening"))
        }
    }
}
