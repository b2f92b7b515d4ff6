import FreshetTestSupport
import Glibc
import Testing

@testable import freshet

/// `serve --tls-certificate`, and commands that reach such a server.
@Suite(.timeLimit(.minutes(5)))
struct EncryptedServerTests {
    @Test func commandsReachAnEncryptedServerAndItReloadsItsCertificate() async throws {
        // Given a server with a certificate
        let authority = try await TestAuthority()
        let identity = try await authority.issue("first")
        let folder = TemporaryDirectory()
        let options = ["--tls-certificate", identity.chain, "--tls-key", identity.key]
        let server = try await ServerProcess.start(executable: Program.path, data: folder.path + "/data", options: options)
        #expect(server.url == "https://127.0.0.1:\(server.port)")
        let program = Program(server: server.url)
        // When a command names the authority, by the option or the environment; Then it is served
        #expect(try await program("put", "c/1", "1", "--ca", authority.certificate).status == 0)
        #expect(try await program(["get", "c/1"], variables: ["FRESHET_CA": authority.certificate]).output == "1")
        // And without it the error says what is missing
        let stranger = try await program("get", "c/1")
        #expect(
            stranger.status == freshet.ExitStatus.unavailable.rawValue && stranger.error.contains("is not trusted")
                && stranger.error.contains("--ca"), "\(stranger)")
        let missing = try await program("get", "c/1", "--ca", "/none")
        #expect(missing.status == freshet.ExitStatus.noInput.rawValue && missing.error.contains("/none cannot be read"))
        // And http is distinguished from https
        let plain = try await Program(server: "http://127.0.0.1:\(server.port)")("get", "c/1")
        #expect(plain.error.contains("use https://"), "\(plain.error)")

        // When the files are exchanged, and the server receives SIGHUP
        let second = try await authority.issue("second")
        try authority.replace(identity, with: second)
        server.process.send(SIGHUP)
        // Then new connections get the new certificate, and the server goes on
        var presented = ""
        while !presented.contains("CN = second") {
            presented = try await TestAuthority.openssl(["s_client", "-connect", "127.0.0.1:\(server.port)"])
        }
        #expect(try await program("get", "c/1", "--ca", authority.certificate).output == "1")
        #expect(await server.stop() == .exited(0))
    }

    @Test func filesThatCannotServeAreRefused() async throws {
        let authority = try await TestAuthority()
        let (one, other) = (try await authority.issue("one"), try await authority.issue("other"))
        let cases: [(options: [String], status: freshet.ExitStatus, text: String)] = [
            (["--tls-certificate", one.chain], .usage, "--tls-key go together"),
            (["--tls-key", one.key], .usage, "--tls-key go together"),
            (["--tls-client-ca", one.key], .usage, "--tls-client-ca goes with"),
            (["--tls-certificate", one.chain, "--tls-key", one.key, "--test-faults"], .usage, "--test-faults goes without"),
            (["--tls-certificate", "/none", "--tls-key", one.key], .data, "/none cannot be read"),
            (["--tls-certificate", one.chain, "--tls-key", other.key], .data, "is not the key of"),
            (["--tls-certificate", one.chain, "--tls-key", one.key, "--tls-client-ca", "/none"], .data, "/none cannot be read"),
        ]
        for (options, status, text) in cases {
            let ending = try await Program()(["serve", "--memory", "--port", "0", "--until-input-ends"] + options)
            #expect(ending.status == status.rawValue && ending.error.contains(text), "\(options): \(ending.error)")
        }
    }
}
