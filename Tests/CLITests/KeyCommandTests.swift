import FoundationEssentials
import FreshetTestSupport
import Glibc
import Testing

@testable import freshet

/// The program with keys: from nothing to a client that may read one collection.
@Suite(.timeLimit(.minutes(5)))
struct KeyCommandTests {
    @Test func fromNothingToAKeyThatReadsOneCollection() async throws {
        let folder = TemporaryDirectory()
        let data = folder.file("data")
        let (operate, till) = (folder.file("operator.key"), folder.file("till.key"))
        // Given the first key, made while no server runs
        let offline = Program(server: "http://127.0.0.1:1")
        let made = try await offline("key", "create", "--data", data, "--name", "operator", "--admin", "--out", operate)
        #expect(made.status == 0 && made.error.isEmpty && !made.output.contains("fk_"))
        let attributes = try FileManager.default.attributesOfItem(atPath: operate)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // When the server requires keys
        let server = try await ServerProcess.start(executable: Program.path, data: data, options: ["--require-keys"])
        let freshet = Program(server: server.url)
        do {
            // Then nothing is answered without one, and the operator makes another
            let refused = try await freshet("get", "articles/1")
            #expect(refused.status == ExitStatus.noPermission.rawValue && refused.error.contains("unauthorized"))
            #expect(try await freshet("put", "--token-file", operate, "articles/1", "1").status == 0)
            let second = try await freshet(
                "key", "create", "--token-file", operate, "--name", "till", "--allow", "default:articles:read", "--expires", "90d", "--out",
                till)
            #expect(second.status == 0)
            #expect(try await freshet("get", "--token-file", till, "articles/1").output == "1")
            let standing = try await freshet("status", "--token-file", till)
            #expect(standing.status == 0 && standing.output.contains("may read        articles") && !standing.output.contains("records"))
            let rights = try await freshet("status", "--token-file", till, "--json").output
            #expect(rights.hasPrefix(#"{"rights":{"principal":"key:"#) && rights.contains(#""read":["articles"],"write":[]"#))
            #expect(try await freshet("status", "--token-file", operate).output.contains("may inspect     *"))
            let forbidden = try await freshet("put", "--token-file", till, "articles/1", "2")
            #expect(forbidden.status == ExitStatus.noPermission.rawValue && forbidden.error.contains("may not write default:articles/1"))
            #expect(try await freshet("get", "--token-file", till, "orders/1").status == ExitStatus.noPermission.rawValue)
            // When it is disabled, enabled, rotated and revoked
            let id = String(second.output.prefix(10))
            #expect(try await freshet("key", "disable", id, "--token-file", operate).status == 0)
            #expect(try await freshet("get", "--token-file", till, "articles/1").status == ExitStatus.noPermission.rawValue)
            #expect(try await freshet("key", "enable", id, "--token-file", operate).status == 0)
            #expect(try await freshet("get", "--token-file", till, "articles/1").status == 0)
            let rotated = try await freshet("key", "rotate", id, "--token-file", operate, "--overlap", "1h")
            #expect(rotated.output.hasPrefix("fk_\(id)_"))
            #expect(try await freshet("get", "--token-file", till, "articles/1").status == 0)
            #expect(try await freshet("key", "revoke", id, "--token-file", operate).status == 0)
            #expect(try await freshet("get", "--token-file", till, "articles/1").status == ExitStatus.noPermission.rawValue)
            let keys = try await freshet("key", "list", "--json", "--token-file", operate).output
            #expect(!keys.contains(id) && keys.contains(#""lastUsed":1"#))
            let lines = try await freshet("key", "list", "--token-file", operate).lines
            #expect(lines.count == 2 && lines[0].hasPrefix("ID  ") && lines[1].contains("  operator  "), "\(lines)")
            // When tokens of an identity provider are revoked
            let unknown = try await freshet("revoke", "--token-file", operate, "--issuer", "https://id.example", "--subject", "u7")
            #expect(unknown.status != 0 && unknown.error.contains("the configuration has none"), "\(unknown.error)")
            #expect(try await freshet("revoke", "--token-file", operate, "--jti", "t1").status == 0)
            // Then
            let revocations = try await freshet("revoke", "--token-file", operate, "--list", "--json").output
            #expect(revocations.contains(#""count":1"#) && revocations.contains(#""jti":"t1""#))
            let wrong = [
                ["--subject", "u7"], ["--jti", "a", "--list"], ["--issuer", "a"], ["--jti", "a", "--issued-before", "x"],
                ["--jti", "a", "--json"],
            ]
            for arguments in wrong { #expect(try await freshet(["revoke"] + arguments).status == ExitStatus.usage.rawValue) }
        } catch {
            await server.kill()
            throw error
        }
        #expect(await server.stop() == .exited(0))
    }

    @Test func tokensOfAnIssuerOfTheFileAreRevoked() async throws {
        // Given
        let folder = TemporaryDirectory()
        let text = """
            {"listen": [{"address": "127.0.0.1:0"}], "admin": {"socket": "admin.sock"},
             "issuers": [{"issuer": "https://id.example", "audience": "a", "keys": {"url": "https://id.example/jwks"}}]}
            """
        folder.write(Array(text.utf8), to: "freshet.json")
        let process = try ChildProcess(
            executable: Program.path,
            arguments: ["serve", "--data", folder.file("data"), "--config", folder.file("freshet.json"), "--until-input-ends"])
        for await line in process.lines where ServerProcess.url(in: line) != nil { break }
        let operate = ["--admin-socket", folder.file("admin.sock")]
        // When
        for arguments in [["--subject", "u7"], ["--issued-before", "2026-01-02T03:04:05Z"]] {
            let ending = try await Program()(["revoke", "--issuer", "https://id.example"] + arguments + operate)
            #expect(ending.status == 0, "\(ending.error)")
        }
        // Then
        let revocations = try await Program()(["revoke", "--list", "--json"] + operate).output
        #expect(revocations.contains(#""count":2"#) && revocations.contains("1767323045000"))
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
    }

    @Test("A file that cannot be created costs no key and no secret", arguments: ["taken", "none/new"])
    func unusableFile(name: String) async throws {
        // Given a server with a key, and a path that cannot be created
        let folder = TemporaryDirectory()
        folder.write([1], to: "taken")
        let (data, socket) = (folder.file("data"), folder.file("admin.sock"))
        let refused = ["--out", folder.file(name)]
        let offline = try await Program()(["key", "create", "--data", data, "--name", "a", "--admin"] + refused)
        #expect(offline.status == ExitStatus.cannotCreate.rawValue && offline.error.contains("no key was made"), "\(offline.error)")
        let server = try await ServerProcess.start(
            executable: Program.path, data: data, options: ["--require-keys", "--admin-socket", socket])
        let freshet = Program(server: server.url)
        do {
            let made = try await freshet(
                "key", "create", "--admin-socket", socket, "--name", "b", "--allow", "default:c:write", "--allow",
                "default:*:create", "--out", folder.file("b.key"))
            let id = String(made.output.prefix(10))
            // When
            let created = try await freshet(
                ["key", "create", "--admin-socket", socket, "--name", "never", "--allow", "default:c:read"] + refused)
            let rotated = try await freshet(["key", "rotate", id, "--admin-socket", socket] + refused)
            // Then no other key was made, and the secret is still valid
            for ending in [created, rotated] { #expect(ending.status == ExitStatus.cannotCreate.rawValue, "\(ending.error)") }
            let keys = try await freshet("key", "list", "--admin-socket", socket).output
            #expect(keys.contains(id) && keys.contains("  b  ") && !keys.contains("default:c:read") && !keys.contains("  a  "))
            #expect(try await freshet("put", "--token-file", folder.file("b.key"), "c/1", "1").status == 0)
            // And a request that is refused leaves no file
            let unknown = try await freshet("key", "rotate", "aaaaaaaaaa", "--admin-socket", socket, "--out", folder.file("left.key"))
            #expect(unknown.status == ExitStatus.notFound.rawValue && !folder.files.contains("left.key"))
        } catch {
            await server.kill()
            throw error
        }
        #expect(await server.stop() == .exited(0))
    }

    @Test("A secret's file is only its owner's, and is removed if it has no secret") func secretFile() throws {
        let folder = TemporaryDirectory()
        // When
        let file = try SecretFile(creating: folder.file("a.key"))
        // Then it cannot be created again
        let taken = #expect(throws: freshet.CommandFailure.self) { try SecretFile(creating: folder.file("a.key")) }
        #expect(taken?.status == .cannotCreate && taken?.message.contains("no key was made") == true)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("a.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try file.fill("secret\n")
        #expect(try String(contentsOfFile: folder.file("a.key"), encoding: .utf8) == "secret\n")
        try SecretFile(creating: folder.file("b.key")).remove()
        #expect(folder.files == ["a.key"])
    }

    @Test func theArgumentsOfAGrant() {
        let grant = AllowArgument("shop:orders/a:b*:read,write")
        #expect(grant?.namespace == "shop" && grant?.range == "orders/a:b*" && grant?.verbs == ["read", "write"])
        for text in ["", "shop", "shop:orders", ":orders:read", "shop::read", "shop:orders:", "shop:orders:read,"] {
            #expect(AllowArgument(text) == nil, "\(text)")
        }
        #expect(DurationArgument("90d")?.seconds == 7_776_000 && DurationArgument("30s")?.seconds == 30)
        for text in ["", "d", "-1d", "0d", "1", "1w", "99999999999999999999d", "36501d"] {
            #expect(DurationArgument(text) == nil, "\(text)")
        }
    }
}
