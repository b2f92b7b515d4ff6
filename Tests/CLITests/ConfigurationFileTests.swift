import FoundationEssentials
import FreshetTestSupport
import Glibc
import Testing

@testable import freshet

/// `freshet.json`, by the program.
@Suite(.timeLimit(.minutes(5)))
struct ConfigurationFileTests {
    private let folder = TemporaryDirectory()
    private let program = Program()

    private func write(_ text: String, to name: String = "freshet.json") throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private static func readable(_ collection: String) -> String {
        #"{"listen":[{"address":"127.0.0.1:0"}],"anonymous":[{"ns":"default","in":["\#(collection)"],"may":["read"]}]}"#
    }

    @Test func aFileIsChecked() async throws {
        // Given
        let right = try write(Self.readable("articles"))
        let wrong = try write("{\n  \"listen\": [{\"address\": \"127.0.0.1:0\"}],\n  \"host\": []\n}", to: "wrong.json")
        // Then
        let checked = try await program("config", "check", right)
        #expect(checked.status == 0 && checked.output == "\(right) is valid\n")
        let refused = try await program("config", "check", wrong)
        #expect(refused.status == freshet.ExitStatus.data.rawValue)
        #expect(refused.error.contains("wrong.json, line 3, at byte 46: 'host' is unknown here, which takes listen"), "\(refused.error)")
        #expect(try await program("config", "check", folder.file("none")).status == freshet.ExitStatus.noInput.rawValue)
    }

    @Test func aSecretInPlaceOfItsPathIsNotPrinted() async throws {
        let secret = "correct-horse-battery-staple-0123"
        let path = try write(
            """
            {"listen": [{"address": "127.0.0.1:0"}],
             "issuers": [{"issuer": "https://id.example", "audience": "a", "keys": {"secret": "\(secret)"}}]}
            """)
        let refused = try await program("config", "check", path)
        #expect(refused.status == freshet.ExitStatus.noInput.rawValue && !refused.error.contains(secret), "\(refused.error)")
        #expect(refused.error.contains("the file that 'secret' of the issuer 'https://id.example' has to name"))
    }

    @Test func aKeyOfAFileThatIsNotUsedIsAWarning() async throws {
        // Given a set with a key that can be used and one that cannot
        _ = try write(#"{"keys":[\#(TokenSigner.es256.jwk(#","kid":"a""#)),{"kid":7}]}"#, to: "keys.json")
        let path = try write(
            """
            {"listen": [{"address": "127.0.0.1:0"}],
             "issuers": [{"issuer": "https://id.example", "audience": "a", "keys": {"file": "keys.json"}}]}
            """)
        // When
        let checked = try await program("config", "check", path)
        // Then
        #expect(checked.status == 0 && checked.output == "\(path) is valid\n")
        #expect(
            checked.error.contains("warning: a key of the issuer 'https://id.example' is not used: the key at byte"), "\(checked.error)")
    }

    @Test("text from a key set begins no line of the log") func forgedLineOfTheLog() async throws {
        // Given a set with a key that can be used, and one whose name holds a line break and a terminal command
        let forged = #"{"kid":"x\n2026-01-02 error\u001b[2J","kty":"EC","crv":"P-999"}"#
        _ = try write(#"{"keys":[\#(TokenSigner.es256.jwk(#","kid":"a""#)),\#(forged)]}"#, to: "keys.json")
        let path = try write(
            """
            {"listen": [{"address": "127.0.0.1:0"}],
             "issuers": [{"issuer": "https://id.example", "audience": "a", "keys": {"file": "keys.json"}}]}
            """)
        // When
        let ending = try await program("serve", "--memory", "--config", path, "--until-input-ends")
        // Then the log, which is no terminal, has one line with visible escapes
        let lines = ending.error.split(separator: "\n").filter { $0.contains("2026-01-02 error") }
        #expect(ending.status == 0 && lines.count == 1, "\(ending.error)")
        #expect(lines.first?.contains(#"key 'x\u{a}2026-01-02 error\u{1b}[2J': 'EC P-999' is not supported"#) == true, "\(ending.error)")
    }

    @Test(arguments: [
        ["--port", "8180"], ["--host", "127.0.0.1"], ["--open"], ["--require-keys"], ["--host-name", "a"], ["--test-faults"],
        ["--audit", "a"],
        ["--request-memory", "268435456"],
    ])
    func anOptionThatTheFileHasIsRefused(_ options: [String]) async throws {
        let ending = try await program(["serve", "--memory", "--config", try write(Self.readable("a"))] + options)
        #expect(ending.status == freshet.ExitStatus.usage.rawValue)
        #expect(ending.error.contains("--config goes without \(options[0]): the file has these settings"))
    }

    @Test func aSignalHasTheFileReadAgainAndAWrongFileChangesNothing() async throws {
        // Given a server whose articles everybody may read
        let path = try write(Self.readable("articles"))
        let process = try ChildProcess(
            executable: Program.path, arguments: ["serve", "--data", folder.file("data"), "--config", path, "--until-input-ends"])
        var url: String?
        for await line in process.lines {
            url = ServerProcess.url(in: line)
            if url != nil { break }
        }
        let records = try #require(url) + "/v1/default/records"
        func status(_ collection: String) async throws -> Int { try await curl(["\(records)/\(collection)/1"]).status }
        #expect(try await status("articles") == 404)
        #expect(try await status("orders") == 403)
        // When the file has other readers
        _ = try write(Self.readable("orders"))
        process.send(SIGHUP)
        while try await status("orders") == 403 {}
        // Then
        #expect(try await status("articles") == 403)
        // When one file is not valid, and the next one is
        _ = try write("{")
        process.send(SIGHUP)
        #expect(try await status("orders") == 404)
        _ = try write(Self.readable("articles"))
        process.send(SIGHUP)
        while try await status("articles") == 403 {}
        // Then
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
    }

    @Test func aFileThatCannotBeReadToItsEndDoesNotKeepTheServerFromEnding() async throws {
        // Given a server whose file becomes a pipe into which nothing is written
        let path = try write(Self.readable("articles"))
        let process = try ChildProcess(
            executable: Program.path, arguments: ["serve", "--data", folder.file("data"), "--config", path, "--until-input-ends"])
        for await line in process.lines where ServerProcess.url(in: line) != nil { break }
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        // When it reads the file again
        process.send(SIGHUP)
        var pipe: Int32 = -1
        while pipe < 0 {
            pipe = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            await Task.yield()
        }
        defer { close(pipe) }
        // Then
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
    }
}
