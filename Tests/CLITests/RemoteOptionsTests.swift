import ArgumentParser
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

@testable import freshet

/// Which token is sent to which server.
@Suite(.timeLimit(.minutes(5)))
struct RemoteOptionsTests {
    private let folder = TemporaryDirectory()

    private func remote(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Remote {
        try RemoteOptions.parse(arguments).remote(environment: Environment(variables))
    }

    private func failure(_ arguments: [String], _ variables: [String: String] = [:]) -> freshet.CommandFailure? {
        #expect(throws: freshet.CommandFailure.self) { try remote(arguments, variables) }
    }

    @Test func anOptionGoesBeforeVariables() throws {
        // Given an existing file and a missing one, so that an error shows which was read
        folder.write(Array("token".utf8), to: "there")
        let (there, absent) = (folder.file("there"), folder.file("absent"))
        _ = try remote(["--token", "a"], ["FRESHET_TOKEN_FILE": absent])
        _ = try remote(["--token-file", there], ["FRESHET_TOKEN_FILE": absent])
        _ = try remote(["--token-file", there], ["FRESHET_TOKEN": "not a token", "FRESHET_TOKEN_FILE": absent])
        _ = try remote([], ["FRESHET_TOKEN_FILE": there])
        #expect(failure([], ["FRESHET_TOKEN_FILE": absent])?.status == .noInput)
        #expect(failure(["--token-file", absent], ["FRESHET_TOKEN": "a"])?.status == .noInput)
    }

    @Test("An empty variable counts as unset") func emptyVariables() throws {
        // When
        let found = try remote([], ["FRESHET_SERVER": "", "FRESHET_NAMESPACE": ""])
        // Then
        #expect(found.server == RemoteOptions.defaultServer && found.namespace.name == RemoteOptions.defaultNamespace)
    }

    @Test("Certificates for a server without TLS are an error, unless a variable names them for all") func certificatesWithoutTLS() throws {
        // Given a file of certificates
        folder.write(Array("pem".utf8), to: "ca.pem")
        let file = folder.file("ca.pem")
        // When an option names it for a server without TLS
        let error = failure(["--server", "http://127.0.0.1:8180", "--ca", file])
        // Then
        #expect(error?.status == .usage && error?.message.contains("https://") == true)
        _ = try remote(["--server", "https://127.0.0.1:8180", "--ca", file])
        _ = try remote(["--server", "http://127.0.0.1:8180"], ["FRESHET_CA": file])
    }

    @Test("A client's certificate and its key go together, and to servers with TLS") func clientCertificates() throws {
        // Given
        for name in ["a.pem", "a.key"] { folder.write(Array("pem".utf8), to: name) }
        let (certificate, key) = (folder.file("a.pem"), folder.file("a.key"))
        let server = ["--server", "https://127.0.0.1:8180"]
        let variables = ["FRESHET_CLIENT_CERTIFICATE": "/none", "FRESHET_CLIENT_KEY": key]
        // Then
        _ = try remote(server + ["--client-certificate", certificate, "--client-key", key], variables)
        _ = try remote(server, ["FRESHET_CLIENT_CERTIFICATE": certificate, "FRESHET_CLIENT_KEY": key])
        #expect(failure(server, variables)?.message.contains("/none cannot be read") == true)
        // And a variable's key is not that of another certificate
        for (options, missing) in [("--client-certificate", "--client-key"), ("--client-key", "--client-certificate")] {
            let error = failure(server + [options, certificate], ["FRESHET_CLIENT_KEY": options == "--client-key" ? "" : key])
            #expect(error?.status == .usage && error?.message.contains("add \(missing)") == true)
        }
        let plain = failure(["--client-certificate", certificate, "--client-key", key])
        #expect(plain?.status == .usage && plain?.message.contains("--client-certificate is for https://") == true)
    }

    @Test func twoTokensAreAnError() throws {
        #expect(throws: (any Error).self) { try RemoteOptions.parse(["--token", "a", "--token-file", "b"]) }
        let both = failure([], ["FRESHET_TOKEN": "a", "FRESHET_TOKEN_FILE": "b"])
        #expect(both?.status == .usage && both?.message.contains("FRESHET_TOKEN_FILE") == true)
        // An empty variable counts as none
        _ = try remote([], ["FRESHET_TOKEN": "a", "FRESHET_TOKEN_FILE": ""])
        _ = try remote([], ["FRESHET_TOKEN": "", "FRESHET_TOKEN_FILE": ""])
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "é"])
    func aTextThatIsNoTokenIsNotRepeated(text: String) {
        let error = failure(["--token", text])
        #expect(error?.status == .data && error?.message.hasPrefix("--token holds no token: ") == true)
        #expect(error?.message.contains("X: y") == false)
    }

    @Test(arguments: [
        "http://192.168.1.7:8180", "http://localhost.evil.example", "http://127.0.0.1@evil.example", "http://[::ffff:127.0.0.1]",
    ])
    func aTokenDoesNotGoUnencryptedToAnotherMachine(url: String) throws {
        folder.write(Array("token".utf8), to: "there")
        for (arguments, variables) in [
            (["--token", "a"], [:]), (["--token-file", folder.file("there")], [:]), ([], ["FRESHET_TOKEN": "a"]),
            ([], ["FRESHET_TOKEN_FILE": folder.file("there")]),
        ] {
            // Given a token and a server without TLS on another machine; Then the command is refused, with how to fix
            // it
            let error = failure(["--server", url] + arguments, variables)
            #expect(error?.status == .usage)
            #expect(error?.message.contains("https://") == true && error?.message.contains("--allow-insecure-token") == true)
            // Unless an option allows it
            _ = try remote(["--server", url, "--allow-insecure-token"] + arguments, variables)
            _ = try remote(["--server", url] + arguments, variables.merging(["FRESHET_ALLOW_INSECURE_TOKEN": "1"]) { $1 })
            for off in ["", "0"] {
                #expect(
                    failure(["--server", url] + arguments, variables.merging(["FRESHET_ALLOW_INSECURE_TOKEN": off]) { $1 })?.status
                        == .usage)
            }
        }
        _ = try remote(["--server", "https://192.168.1.7", "--token", "a"])
        _ = try remote(["--server", "http://localhost:8180", "--token", "a"])
        #expect(failure([], ["FRESHET_ALLOW_INSECURE_TOKEN": "yes"])?.message.contains("takes 0 or 1") == true)
    }

    @Test func aPasswordInTheURLCountsAsToken() throws {
        let error = failure(["--server", "http://ann:secret@192.168.1.7"])
        #expect(error?.status == .usage && error?.message.contains("secret") == false)
        _ = try remote(["--server", "http://192.168.1.7"])
    }

    @Test(
        "No message names the user and the password of a URL",
        arguments: ["http://ann:secret@127.0.0.1:1", "https://ann:secret@h", "http://secret@127.0.0.1:1"])
    func passwordInMessages(url: String) throws {
        #expect(try !remote(["--server", url]).server.contains("secret"))
        #expect(Remote.withoutUser("http://ann:se@cret@h/a") == "http://h/a")
        for wrong in ["\(url)/v1", "\(url)?x=1", "\(url)#x", "\(url):x"] {
            let error = failure(["--server", wrong])
            #expect(error?.status == .usage && error?.message.contains("secret") == false, "\(String(describing: error))")
        }
        for mistake in ["a#secret", "a/secret", "a secret", "80#secret", "80/secret"] {
            let error = failure(["--server", "http://ann:\(mistake)@h/v1"])
            #expect(error?.status == .usage && error?.message.contains("secret") == false, "\(String(describing: error))")
        }
        // An at sign behind the host is no user's
        #expect(try remote(["--server", "http://127.0.0.1:1/a@b"]).server == "http://127.0.0.1:1/a@b")
    }

    @Test("A URL with another path than the server's is a usage error, and no missing record") func pathInTheURL() async throws {
        let server = try RecordServer.running()
        for arguments in [["get", "notes/1"], ["status"], ["watch"], ["put", "notes/1", "1"]] {
            let ending = try await Program(server: "\(server.url)/shop")(arguments)
            #expect(ending.status == ExitStatus.usage.rawValue && ending.error.contains("--namespace"), "\(ending)")
        }
        // And a missing record is one still
        #expect(try await Program(server: server.url)("get", "notes/1").status == ExitStatus.notFound.rawValue)
        await server.stop()
    }

    @Test func theProgramRefusesBeforeItConnects() async throws {
        // Given a server, under an address that does not count as loopback
        let server = try RecordServer.running()
        let freshet = Program(server: "http://0.0.0.0:\(try #require(server.address).port)")
        #expect(try await freshet("put", "notes/1", "1").status == 0)
        // When a command sends a token
        let refused = try await freshet("get", "notes/1", "--token", "secret")
        // Then it is refused, and with the flag it is sent
        #expect(refused.status == ExitStatus.usage.rawValue && refused.output.isEmpty)
        #expect(refused.error.contains("would go unencrypted to 0.0.0.0") && !refused.error.contains("secret"))
        #expect(try await freshet("get", "notes/1", "--token", "secret", "--allow-insecure-token").output == "1")
        await server.stop()
    }

    @Test func requestsToThisMachineGoThroughNoProxy() async throws {
        // Given a proxy in the environment that refuses connections
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        let (proxy, port) = Sockets.bound()
        let variables = ["http_proxy": "http://127.0.0.1:\(port)", "no_proxy": ""]
        #expect(try await freshet(["put", "notes/1", "1"]).status == 0)
        // When the server on this machine is called, with a token and without; Then the proxy is not used
        #expect(try await freshet(["get", "notes/1", "--token", "a"], variables: variables).output == "1")
        #expect(try await freshet(["get", "notes/1"], variables: variables).output == "1")
        // When another host is called; Then the error names the proxy, without its password
        let other = Program(server: "http://freshet.invalid")
        let named = ["http_proxy": "http://ann:secret@127.0.0.1:\(port)/", "no_proxy": "elsewhere.invalid"]
        let refused = try await other(["get", "notes/1"], variables: named)
        #expect(refused.status == ExitStatus.unavailable.rawValue)
        #expect(refused.error.contains("the proxy http://127.0.0.1:\(port) of http_proxy") && !refused.error.contains("secret"))
        // Unless no_proxy contains the host
        let direct = try await other(["get", "notes/1"], variables: ["http_proxy": "http://127.0.0.1:\(port)", "no_proxy": ".invalid"])
        #expect(!direct.error.contains("proxy"))
        Sockets.reset(proxy)
        await server.stop()
    }
}
