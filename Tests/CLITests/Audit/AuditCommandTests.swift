import FoundationEssentials
import FreshetTestSupport
import Glibc
import Testing

@testable import freshet

/// The program with an audit log, as an operator uses it.
@Suite(.timeLimit(.minutes(5)))
struct AuditCommandTests {
    private let folder = TemporaryDirectory()
    private let program = Program()

    private func write(_ members: String) throws -> String {
        let path = folder.file("freshet.json")
        try Data(#"{"listen":[{"address":"127.0.0.1:0"}],\#(members)}"#.utf8).write(to: URL(filePath: path))
        return path
    }

    private func start(_ arguments: [String]) async throws -> (process: ChildProcess, url: String) {
        let process = try ChildProcess(executable: Program.path, arguments: ["serve", "--until-input-ends"] + arguments)
        var url: String?
        for await line in process.lines {
            url = ServerProcess.url(in: line)
            if url != nil { break }
        }
        return (process, try #require(url))
    }

    @Test func anOperatorSeesWhoDidWhatAndNoSecret() async throws {
        // Given a server whose configuration file names a log beside it
        let (data, operate) = (folder.file("data"), folder.file("operator.key"))
        #expect(try await program("key", "create", "--data", data, "--name", "o", "--admin", "--out", operate).status == 0)
        let config = try write(#""audit":"audit.jsonl""#)
        let log = folder.file("audit.jsonl")
        let (process, url) = try await start(["--config", config, "--data", data])
        let freshet = Program(server: url)
        // When
        let made = try await freshet("key", "create", "--token-file", operate, "--name", "till\u{202E}", "--allow", "a:b:read")
        try #require(made.status == 0)
        #expect(try await freshet("put", "--token-file", operate, "--namespace", "shop", "c/1", "1").status == 0)
        for _ in 0..<2 { _ = try await freshet("get", "--token", made.output.trimmingSuffix("\n"), "--namespace", "shop", "c/1") }
        func lines(_ path: String) async throws -> [String] { try await program("audit", "tail", path).lines }
        while try await lines(log).count < 4 {}
        // Then
        let shown = try await program("audit", "tail", "--config", config)
        #expect(shown.status == 0 && shown.lines.count == 4 && !shown.output.contains("fk_"))
        #expect(shown.lines[1].contains("key-created            key \(made.output.dropFirst(3).prefix(10)) by key:"))
        #expect(shown.lines[2].contains("namespace-created") && shown.lines[2].contains(" from 127.0.0.1 in shop  PUT /v1/"))
        #expect(shown.lines[3].contains("right-denied") && shown.lines[3].contains(": needs read of shop:c/1"))
        let json = try await program("audit", "tail", log, "--lines", "1", "--json")
        #expect(json.lines.count == 1 && json.output.contains(#""event":"right-denied","principal":"key:"#))
        // And a name of a key controls no terminal
        let onTerminal = try await program.onTerminals("audit", "tail", log)
        #expect(onTerminal.output.contains(#"till\u{202e}"#) && !onTerminal.output.contains("\u{202E}"))
        // When the log is rotated
        let moved = log + ".1"
        try FileManager.default.moveItem(atPath: log, toPath: moved)
        process.send(SIGHUP)
        while !FileManager.default.fileExists(atPath: log) { await Task.yield() }
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
        // Then the second file has the later lines
        let (second, first) = (try await lines(log), try await lines(moved))
        #expect(second.last?.contains("server-stopped") == true && first.count >= 4)
        #expect((first + second).count { $0.contains("configuration-reloaded") } == 1)
    }

    @Test func aServerWithoutAFileTakesTheLogByAnOption() async throws {
        let log = folder.file("audit.jsonl")
        let (process, url) = try await start(["--memory", "--port", "0", "--audit", log])
        #expect(try await Program(server: url)("put", "c/1", "1").status == 0)
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
        let lines = try await program("audit", "tail", log).lines
        #expect(lines.count == 3 && lines[1].contains("namespace-created      from 127.0.0.1 in default"))
        #expect(try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int == 0o600)
    }

    @Test(.enabled(if: SmallDisk.isAvailable))
    func aServerThatRequiresItsLogEndsWithoutIt() async throws {
        // Given a server whose log has room for few lines
        try await SmallDisk.with(kibibytes: 8) { disk in
            let config = try write(
                #""audit":"\#(disk.path)/audit.jsonl","auditRequired":true,"anonymous":[{"ns":"*","in":["*"],"may":["read","write","create"]}]"#
            )
            let (process, url) = try await start(["--config", config, "--data", folder.file("data")])
            // When
            var statuses: [Int32] = []
            while statuses.allSatisfy({ $0 == 0 }), statuses.count < 200 {
                statuses.append(try await Program(server: url)("put", "--namespace", "n\(statuses.count)", "c/1", "1").status)
            }
            // Then the last change is not acknowledged, and the server ends with its reason
            #expect(statuses.count < 200)
            #expect(await process.ending() == .exited(ExitStatus.inputOutput.rawValue))
        }
    }

    @Test("A tail that follows ends when its reader has gone, without a further line") func tailWithoutReader() async throws {
        // Given
        folder.write(Array("{}\n".utf8), to: "audit.jsonl")
        // When
        let ending = try await Program.shell(
            "set -o pipefail; timeout 60 '\(Program.path)' audit tail '\(folder.file("audit.jsonl"))' --json --follow | head -1")
        // Then
        #expect(ending.status == 0 && ending.output == "{}\n" && ending.error.isEmpty, "\(ending)")
    }

    @Test func aLogThatCannotBeOpenedAndWrongOptionsAreRefused() async throws {
        for arguments in [
            ["--memory", "--port", "0", "--audit", "/none/a"], ["--config", try write(#""audit":"/none/a""#), "--data", folder.file("d")],
        ] {
            let ending = try await program(["serve", "--until-input-ends"] + arguments)
            #expect(ending.status == ExitStatus.cannotCreate.rawValue && ending.error.contains("the audit log /none/a cannot be written"))
        }
        for arguments in [[], ["a", "--config", "b"], ["a", "--lines", "0"], ["a", "--lines", "10001"]] {
            #expect(try await program(["audit", "tail"] + arguments).status == ExitStatus.usage.rawValue)
        }
        #expect(try await program("audit", "tail", "--config", try write(#""hosts":[]"#)).error.contains("has no member 'audit'"))
        #expect(try await program("audit", "tail", folder.file("none")).status == ExitStatus.noInput.rawValue)
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
