import FoundationEssentials
import FreshetTestSupport
import FreshetTrust
import Glibc
import Testing

@testable import freshet

/// `freshet token inspect` and `freshet rights`, and the errors that lead to them.
@Suite(.timeLimit(.minutes(5)))
struct TokenInspectTests {
    private let folder = TemporaryDirectory()
    private let program = Program()
    private static let issuer = "https://id.example.org"

    private func write(_ text: String, to name: String) throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// A configuration whose issuer has its keys at a source.
    private func configuration(_ keys: String, listen: String = "127.0.0.1:0") throws -> String {
        try write(
            """
            {"listen": [{"address": "\(listen)"}], "admin": {"socket": "admin.sock"},
             "anonymous": [{"ns": "shop", "in": ["public"], "may": ["read"]}],
             "issuers": [{"issuer": "\(Self.issuer)", "audience": "freshet", "keys": \(keys)}],
             "roles": {"till": [{"ns": "shop", "in": ["articles"], "may": ["read"]},
                                {"ns": "shop", "in": ["carts/{sub}/*"], "may": ["read", "write"]}]}}
            """, to: "freshet.json")
    }

    private func jwks(_ signer: TokenSigner, id: String) throws {
        _ = try write(#"{"keys":[\#(signer.jwk(#","kid":"\#(id)""#))]}"#, to: "keys.json")
    }

    /// Writes a token with claims that a server accepts, and with `changes`; a `nil` removes one.
    private func token(_ changes: [String: String?] = [:], id: String? = "k1", by signer: TokenSigner = .es256) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        var claims = [
            "iss": #""\#(Self.issuer)""#, "aud": #""freshet""#, "sub": #""u7""#, "exp": "\(now + 600)", "iat": "\(now)",
            "freshet_role": #""till""#,
        ]
        for (name, value) in changes { claims[name] = value }
        let text = "{" + claims.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
        return try write(String(decoding: signer.token(claims: text, id: id), as: UTF8.self) + "\n", to: "token")
    }

    @Test func aTokenIsShownWithItsPrincipalAndRights() async throws {
        // Given
        try jwks(.es256, id: "k1")
        let file = try configuration(#"{"file": "keys.json"}"#)
        // When
        let shown = try await program("token", "inspect", try token(), "--config", file)
        // Then
        #expect(shown.status == 0, "\(shown.error)")
        for line in [
            "algorithm   ES256, key 'k1'", "issuer      \(Self.issuer)", "subject     u7", "audience    freshet", "asks for    role 'till'",
            "valid       yes", "principal   \(Self.issuer)|u7", "rights      shop:articles:read", "            shop:carts/u7/*:read,write",
        ] { #expect(shown.lines.contains(line), "\(line) is not in \(shown.output)") }
        // And from standard input, and without a configuration nothing is verified
        let text = try String(contentsOfFile: folder.file("token"), encoding: .utf8)
        #expect(try await program("token", "inspect", "-", "--config", file, input: text).output == shown.output)
        let unverified = try await program("token", "inspect", input: text)
        #expect(unverified.status == 0 && unverified.output.contains("not verified: name the server's file with --config"))
        #expect(!shown.output.contains(text.dropLast()))
    }

    @Test func theKeysOfAURLAreFetched() async throws {
        // Given
        let body = #"{"keys":[\#(TokenSigner.es256.jwk(#","kid":"k1""#))]}"#
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        let url = Sockets.serve([head + "\(body.utf8.count)\r\n\r\n\(body)", "HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n"])
        let file = try configuration(#"{"url": "\#(url)/jwks"}"#)
        // Then
        let path = try token()
        #expect(try await program("token", "inspect", path, "--config", file).status == 0)
        let failed = try await program("token", "inspect", path, "--config", file)
        #expect(failed.status == freshet.ExitStatus.unavailable.rawValue && failed.error.contains("the status is 503"), "\(failed.error)")
    }

    @Test func aRefusedTokenIsShownWithTheReasonAndWhatWouldBeRight() async throws {
        // Given
        try jwks(.es256, id: "k1")
        let file = try configuration(#"{"file": "keys.json", "algorithms": ["ES256"]}"#)
        let other = TokenSigner(.es256)
        let cases: [(path: () throws -> String, reason: String)] = [
            ({ try token(["aud": #""other""#]) }, "'aud' is 'other', and the configuration has 'freshet'"),
            ({ try token(["iss": #""https://b""#]) }, "'iss' is 'https://b', and the configuration has '\(Self.issuer)'"),
            ({ try token(id: "k2") }, "the token names 'k2' (ES256), and the issuer has 'k1' (ES256)"),
            ({ try token(by: .rs256) }, "'alg' is RS256, and the issuer may use ES256"),
            ({ try token(by: other) }, "the signature does not match"),
            ({ try token(["exp": "1000", "iat": "900"]) }, "the token expired"),
            ({ try token(["freshet_role": #""boss""#]) }, "the configuration has 'till'"),
            ({ try token(["freshet_role": nil]) }, "allows nothing: the issuer must set 'freshet'"),
            ({ try token(["sub": nil]) }, "the token has no 'sub'"), ({ try write("a.b.c", to: "token") }, "malformed"),
            ({ try write("fk_short", to: "token") }, "a key has"),
        ]
        for (path, reason) in cases {
            // When
            let ending = try await program("token", "inspect", try path(), "--config", file)
            // Then
            #expect(
                ending.status == freshet.ExitStatus.noPermission.rawValue && ending.error.contains(reason), "\(reason): \(ending.error)")
        }
    }

    @Test func rightsAreThoseOfTheServerAndErrorsLeadToTheInspection() async throws {
        // Given a server
        try jwks(.es256, id: "k1")
        let file = try configuration(#"{"file": "keys.json"}"#)
        let process = try ChildProcess(
            executable: Program.path, arguments: ["serve", "--data", folder.file("data"), "--config", file, "--until-input-ends"])
        var url: String?
        for await line in process.lines {
            url = ServerProcess.url(in: line)
            if url != nil { break }
        }
        let found: String = try #require(url)
        let program = Program(server: found)
        let till = try token()
        // Then an operation is allowed by a grant, or the error names the one that is missing
        let allowed = try await program("rights", "--token-file", till, "shop:carts/u7/1", "write")
        #expect(
            allowed.status == 0 && allowed.output == "\(Self.issuer)|u7 may write shop:carts/u7/1: its grant of shop:carts/u7/* allows it\n"
        )
        #expect(try await program("rights", "--token-file", till, "--namespace", "shop", "articles", "read").status == 0)
        let refused = try await program("rights", "--token-file", till, "shop:articles/1", "write")
        #expect(refused.status == freshet.ExitStatus.noPermission.rawValue)
        #expect(
            refused.error.contains("may not write shop:articles/1. It may write shop:carts/u7/*") && refused.error.contains("token inspect")
        )
        #expect(try await program("rights", "--token-file", till, "shop:*", "drop").error.contains("It may drop nothing"))
        #expect(
            try await program("rights", "--admin-socket", folder.file("admin.sock"), "shop:*", "drop").output.hasPrefix("operator may drop")
        )
        for (arguments, reason) in [
            (["a/1", "eat"], "is no verb"), (["shop:a b", "read"], ""), (["shop:a", "read", "--namespace", "b"], "leave out"),
        ] {
            let usage = try await program(["rights"] + arguments)
            #expect(usage.status == freshet.ExitStatus.usage.rawValue && usage.error.contains(reason), "\(usage.error)")
        }
        let anonymous = try await program("rights", "shop:articles/1", "write")
        #expect(
            anonymous.status == freshet.ExitStatus.noPermission.rawValue
                && anonymous.error == "error: requests without a key may not write shop:articles/1: send one, by --token-file\n",
            "\(anonymous.error)")
        let unreadable = try await program("get", "--namespace", "shop", "orders/1")
        #expect(unreadable.error.contains("Requests without a key may not read shop:orders/1: send one, by --token-file"))
        // And a wrong token, a wrong audience and a token's missing right each name the inspection
        let key = try await program(
            "key", "create", "--admin-socket", folder.file("admin.sock"), "--name", "n", "--allow", "shop:articles:read", "--out",
            folder.file("key"))
        #expect(key.status == 0)
        let paths: [() throws -> String] = [
            { try write("nonsense", to: "wrong") }, { try token(["aud": #""other""#]) }, { try token() },
        ]
        for path in paths {
            let ending = try await program("get", "--token-file", try path(), "--namespace", "shop", "orders/1")
            #expect(
                ending.status == freshet.ExitStatus.noPermission.rawValue && ending.error.contains("freshet token inspect"),
                "\(ending.error)")
        }
        // And a key's missing right names the command that shows the rights of a key
        for arguments in [["get", "--namespace", "shop", "orders/1"], ["rights", "shop:orders/1", "read"]] {
            let ending = try await program(arguments + ["--token-file", folder.file("key")])
            #expect(ending.status == freshet.ExitStatus.noPermission.rawValue, "\(ending.error)")
            #expect(ending.error.contains("'freshet status'") && !ending.error.contains("token inspect"), "\(ending.error)")
        }
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
    }
}
