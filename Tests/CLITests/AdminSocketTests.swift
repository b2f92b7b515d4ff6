import FoundationEssentials
import FreshetTestSupport
import Glibc
import Testing

@testable import freshet

/// The admin socket and several listeners, by the program and by `curl --unix-socket`.
@Suite(.timeLimit(.minutes(5)))
struct AdminSocketTests {
    private let folder = TemporaryDirectory()
    private var socket: String { folder.file("admin.sock") }

    private func write(_ text: String, to name: String) throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test func fromNothingToAKeyWithoutASecretAtTheStart() async throws {
        // Given a server that requires keys, and has none
        let data = folder.file("data")
        let server = try await ServerProcess.start(
            executable: Program.path, data: data, options: ["--require-keys", "--admin-socket", socket])
        let program = Program(server: server.url)
        #expect(try await program("get", "articles/1").status == freshet.ExitStatus.noPermission.rawValue)
        // When its user makes a key, by the option and by the variable
        let till = folder.file("till.key")
        let made = try await program(
            "key", "create", "--admin-socket", socket, "--name", "till", "--allow", "default:articles:read", "--out", till)
        #expect(made.status == 0, "\(made.error)")
        let operate = ["FRESHET_ADMIN_SOCKET": socket]
        #expect(try await program(["key", "list"], variables: operate).output.contains("  till  default:articles:read"))
        // Then the operator does everything, and the key what its grant says
        #expect(try await program("put", "articles/1", "1", "--admin-socket", socket).status == 0)
        #expect(try await program("get", "articles/1", "--token-file", till).output == "1")
        #expect(try await program("put", "articles/1", "2", "--token-file", till).status == freshet.ExitStatus.noPermission.rawValue)
        let curled = try await curl(["--unix-socket", socket, "http://freshet/metrics"])
        #expect(curled.status == 200 && curled.body.contains("freshet_http_requests_total"))
        #expect(try await curl(["\(server.url)/metrics"]).status == 404)
        #expect(try await curl(["\(server.url)/healthz"]).status == 200)
        #expect(try await program(["status", "--ready"], variables: operate).status == 0)
        // And another address says where operators are served
        let operatorKey = folder.file("operator.key")
        #expect(try await program(["key", "create", "--name", "o", "--admin", "--out", operatorKey], variables: operate).status == 0)
        for arguments in [["key", "list"], ["reload"], ["status", "--ready"]] {
            let ending = try await program(arguments + ["--token-file", operatorKey])
            #expect(
                ending.status == freshet.ExitStatus.unavailable.rawValue && ending.error.contains("does not serve operators"),
                "\(ending.error)")
            #expect(ending.error.contains("--admin-socket PATH"))
        }
        // And the variable is for commands of operators alone
        #expect(try await program(["get", "articles/1"], variables: operate).status == freshet.ExitStatus.noPermission.rawValue)
        let revoked = try await program(["key", "revoke", String(made.output.prefix(10))], variables: operate)
        #expect(revoked.status == 0, "\(revoked.error)")
        #expect(try await program("get", "articles/1", "--token-file", till).status == freshet.ExitStatus.noPermission.rawValue)
        #expect(try await program("reload", "--admin-socket", socket).status == 0)
        // And a second server leaves the socket alone
        let other = try await program("serve", "--memory", "--port", "0", "--admin-socket", socket, "--until-input-ends")
        #expect(other.status == freshet.ExitStatus.unavailable.rawValue && other.error.contains("another process listens at"))
        #expect(try await program("reload", "--admin-socket", socket).status == 0)
        #expect(await server.stop() == .exited(0))
        // Then the socket has gone with the server, and the error says how to get one
        #expect(access(socket, F_OK) != 0)
        let gone = try await program("reload", "--admin-socket", socket)
        #expect(
            gone.status == freshet.ExitStatus.unavailable.rawValue && gone.error.contains("freshet serve --admin-socket"), "\(gone.error)")
        let both = try await program("reload", "--admin-socket", socket, "--server", server.url)
        #expect(both.status == freshet.ExitStatus.usage.rawValue && both.error.contains("--admin-socket goes without --server"))
    }

    @Test func aFileHasListenersWithCertificatesByNameAndAReloadIsAllOrNothing() async throws {
        // Given a server with a plain address and one with two certificates
        let authority = try await TestAuthority()
        let (shop, bank) = (
            try await authority.issue("shop", for: "DNS:shop.example"), try await authority.issue("bank", for: "DNS:bank.example")
        )
        let next = try await authority.issue("next", for: "DNS:shop.example")
        let file = { (plain: String, collection: String) in
            """
            {"listen": [{"address": "\(plain)"},
                        {"address": "127.0.0.1:0", "tls": [{"certificate": "\(shop.chain)", "key": "\(shop.key)"},
                                                           {"certificate": "\(bank.chain)", "key": "\(bank.key)"}]}],
             "admin": {"socket": "admin.sock"}, "hosts": ["shop.example", "bank.example"],
             "anonymous": [{"ns": "default", "in": ["\(collection)"], "may": ["read"]}]}
            """
        }
        let mismatched = try write(file("127.0.0.1:0", "articles").replacing(bank.key, with: shop.key), to: "mismatched.json")
        let checked = try await Program()("config", "check", mismatched)
        #expect(checked.status == freshet.ExitStatus.data.rawValue && checked.error.contains("is not the key of"), "\(checked.error)")
        let path = try write(file("127.0.0.1:0", "articles"), to: "freshet.json")
        #expect(try await Program()("config", "check", path).status == 0)
        let process = try ChildProcess(
            executable: Program.path, arguments: ["serve", "--data", folder.file("data"), "--config", path, "--until-input-ends"])
        var urls: [String] = []
        for await line in process.lines {
            urls.append(line)
            if urls.count == 3 { break }
        }
        let plain = try #require(urls.first.flatMap(ServerProcess.url))
        #expect(urls.last == "also listening on unix:\(socket)" && plain.hasPrefix("http://"))
        let port = try #require(urls[1].split(separator: ":").last)
        #expect(urls[1].hasPrefix("also listening on https://127.0.0.1:"))
        // Then each name has its certificate, and all addresses the same records
        func ask(_ name: String) async throws -> CurlAnswer {
            try await curl([
                "--cacert", authority.certificate, "--resolve", "\(name):\(port):127.0.0.1",
                "https://\(name):\(port)/v1/default/records/articles",
            ])
        }
        func presented(_ name: String) async throws -> String {
            try await TestAuthority.openssl(["s_client", "-connect", "127.0.0.1:\(port)", "-servername", name])
        }
        #expect(try await ask("shop.example").status == 200)
        #expect(try await ask("bank.example").status == 200)
        #expect(try await presented("shop.example").contains("CN = shop"))
        #expect(try await presented("bank.example").contains("CN = bank"))
        #expect(try await curl(["\(plain)/v1/default/records/articles"]).status == 200)
        // When the file changes an address, is not valid, or names a certificate of another key
        let reload = { () in try await Program()("reload", "--admin-socket", socket) }
        for (text, reason) in [
            (file("127.0.0.1:1", "orders"), "cannot change listen"), ("{", "freshet.json, line 1"),
            (file("127.0.0.1:0", "orders").replacing(bank.key, with: shop.key), "is not the key of"),
        ] {
            _ = try write(text, to: "freshet.json")
            let ending = try await reload()
            #expect(ending.status == freshet.ExitStatus.data.rawValue && ending.error.contains(reason), "\(ending.error)")
            #expect(ending.error.contains("former configuration stays in force"))
        }
        // Then nothing was applied
        #expect(try await curl(["\(plain)/v1/default/records/articles"]).status == 200)
        #expect(try await presented("bank.example").contains("CN = bank"))
        // When rights and certificates change together
        _ = try write(file("127.0.0.1:0", "orders"), to: "freshet.json")
        try authority.replace(shop, with: next)
        #expect(try await reload().status == 0)
        // Then both are in force
        #expect(try await curl(["\(plain)/v1/default/records/articles"]).status == 403)
        #expect(try await presented("shop.example").contains("CN = next"))
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
    }
}
