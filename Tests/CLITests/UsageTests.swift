import ArgumentParser
import FoundationEssentials
import FreshetTestSupport
import Subprocess
import Testing

@testable import freshet

/// Output of the program without a server.
struct UsageTests {
    private let freshet = Program()

    @Test func versionAndHelpArePrinted() async throws {
        let version = try await freshet("--version")
        #expect(version.status == 0)
        #expect(version.output == Freshet.configuration.version + "\n")
        let help = try await freshet("help")
        #expect(help.status == 0)
        for status in ExitStatus.allCases { #expect(help.output.contains("\(status.rawValue)  ")) }
    }

    @Test(arguments: Freshet.configuration.subcommands.map { $0._commandName })
    func helpShowsAnExampleEach(command: String) async throws {
        let help = try await freshet("help", command)
        #expect(help.status == 0)
        #expect(help.output.contains("EXAMPLE"))
        #expect(help.output.contains("  freshet \(command)"))
    }

    @Test(arguments: [
        ["get"], ["get", "nokey"], ["put", "a b/1", "1"], ["list", "a b"], ["list", "c", "--limit", "0"], ["invalidate"],
        ["invalidate", "c/1", "--all"], ["invalidate", "c/1", "--prefix", "x"], ["watch", "--since", "yesterday"],
        ["watch", "--collection", "a b"], ["no-such-command"], ["import"], ["import", "file", "--id-field", "id"],
        ["import", "file", "--collection", "a b"], ["export", "a b"], ["get", "c/1", "--server", "localhost"],
        ["get", "c/1", "--server", "http://h?a"], ["simulate", "--jobs", "0"], ["simulate", "--jobs", "1025"],
        ["simulate", "--jobs", "9223372036854775807"], ["search", "--jobs", "9223372036854775807"], ["search", "--corpus", ""],
        ["worlds", "--states", "0"], ["simulate", "--report", "/dev/null", "--shrunk", "/dev/null"],
        ["simulate", "--scenario", "/dev/null", "--report", "/dev/./null"],
        ["serve", "--port", "0", "--data", "~/data"], ["cache", "stats", "~/cache"], ["cache", "clear", "~/cache"],
        ["copy", "--from", "~/data", "--to", "/tmp/none"], ["get", "c/1", "--admin-socket", "~/admin.sock"], ["import", "~/rows.json"],
        ["config", "check", "~/freshet.json"], ["search", "--corpus", "~/corpus", "--seconds", "1"],
    ])
    func whatIsNotUnderstoodIsAUsageError(arguments: [String]) async throws {
        let ending = try await freshet(arguments)
        #expect(ending.status == ExitStatus.usage.rawValue)
        #expect(ending.output.isEmpty)
        #expect(ending.error.lowercased().hasPrefix("error: "))
    }

    @Test(arguments: [("http://127.0.0.1:1/v1", "http://127.0.0.1:1"), ("https://h/sync/v1/shop/", "https://h/sync")])
    func aServerWithAPathOfTheProtocolIsRefusedWithItsRoot(url: String, root: String) async throws {
        let ending = try await freshet("get", "c/1", "--server", url)
        #expect(ending.status == ExitStatus.usage.rawValue)
        #expect(ending.error.contains("give '\(root)'"))
    }

    @Test("A negative number without -- is refused with the way to give it", arguments: ["-5", "-12", "-0.5", "-1e3"])
    func negativeNumber(number: String) async throws {
        let ending = try await freshet("put", "counters/1", number)
        #expect(ending.status == ExitStatus.usage.rawValue)
        #expect(ending.error.hasSuffix("freshet put counters/1 -- \(number)\n"), "\(ending.error)")
        // And other options get no such hint
        #expect(NegativeNumber.hint(for: "Unknown option '-x'", ["put", "counters/1", "-x"]) == nil)
        #expect(NegativeNumber.hint(for: "Unknown option '-x'", ["put", "-x", "--", "-5"]) == nil)
    }

    @Test("Arguments that are not UTF-8 are refused, with the place of the first one")
    func argumentsThatAreNotUTF8() async throws {
        // Given a key that is not UTF-8; When it is read
        let ending = try await Program.shell(#"exec '\#(Program.path)' get $'c/\xff' --json"#)
        // Then
        #expect(ending.status == ExitStatus.usage.rawValue && ending.output.isEmpty)
        #expect(ending.error == "error: argument 2 is not UTF-8\n")
    }

    @Test func outputThatCannotBeWrittenSaysWhy() async throws {
        let result = try await run(
            .name("sh"), arguments: ["-c", "exec '\(Program.path)' simulate --seeds 1 --steps 10 --json > /dev/full"], output: .discarded,
            error: .string(limit: 1 << 16))
        #expect(result.standardError.contains("No space left on device"))
    }

    @Test(
        "A failure of standard error changes no command, and a lost reader of the output is no success",
        arguments: [
            ("get c/1 --server http://127.0.0.1:9 2>&4", 69), ("get c/1 --server http://127.0.0.1:9 2>/dev/full", 69),
            ("get c/1 --server http://127.0.0.1:9 2>&-", 69), ("simulate --seeds 1 --steps 10 >&4", 141),
            ("serve --memory --port 0 --until-input-ends --open --host 0.0.0.0 2>/dev/full </dev/null", 0),
        ])
    func failingStreams(command: String, status: Int) async throws {
        let folder = TemporaryDirectory()
        // Given a pipe that nobody reads, with SIGPIPE ignored
        let ending = try await Program.shell(
            "trap '' PIPE; mkfifo '\(folder.file("pipe"))'; exec 3<>'\(folder.file("pipe"))' 4>'\(folder.file("pipe"))' 3<&-; "
                + "exec '\(Program.path)' \(command)")
        // Then
        #expect(Int(ending.status) == status, "\(ending)")
    }

    @Test("A closed output is written to no file of the program") func closedOutput() async throws {
        // Given
        let folder = TemporaryDirectory()
        // When the first key is made, and nobody sees its secret
        let ending = try await Program.shell(
            "exec '\(Program.path)' key create --data '\(folder.file("data"))' --name a --admin <&- >&- 2>&-")
        // Then
        #expect(ending.status == 0)
        #expect(FileManager.default.contents(atPath: folder.file("data/freshet.lock")) == Data())
        // And an input that was closed cannot be read
        let closed = try await Program.shell("exec '\(Program.path)' put c/1 --server http://127.0.0.1:9 <&-")
        #expect(closed.status == ExitStatus.noInput.rawValue && closed.error.contains("standard input"), "\(closed)")
    }

    @Test("A value without an end is refused", arguments: ["put", "patch"]) func endlessValue(command: String) async throws {
        let ending = try await freshet(command, "c/1", "@/dev/zero", "--server", "http://127.0.0.1:9")
        #expect(ending.status == ExitStatus.data.rawValue && ending.error.contains("more than 67,108,864 bytes"), "\(ending)")
    }

    @Test("A range of seeds that cannot be says what can", arguments: ["9...1", "0...100000000", "-1", "1..2", ""])
    func seeds(range: String) async throws {
        let ending = try await freshet("simulate", "--seeds=\(range)")
        #expect(ending.status == ExitStatus.usage.rawValue && ending.error.contains("100000000 at most"), "\(ending)")
    }

    @Test("A scenario that is not UTF-8 is refused, and one that breaks a rule is named so that a shell takes it")
    func scenarioFiles() async throws {
        let folder = TemporaryDirectory()
        folder.write([0xFF], to: "no text")
        folder.write(Array("device A\nA puts c/1 \"a\u{202E}\"\nsettle\nexpect A sees c/1 2\n".utf8), to: "it's;a b")
        let refused = try await freshet("simulate", "--scenario", folder.file("no text"))
        #expect(refused.status == ExitStatus.data.rawValue && refused.error.contains("is not UTF-8"), "\(refused)")
        let broken = try await freshet.onTerminals("simulate", "--scenario", folder.file("it's;a b"))
        #expect(broken.status == ExitStatus.notFound.rawValue, "\(broken)")
        #expect(broken.error.hasSuffix(#"--scenario '\#(folder.path)/it'\''s;a b'"# + "\n"), "\(broken)")
        // And the value in the description controls no terminal
        #expect(broken.output.contains(#"\u{202e}"#) && !broken.output.contains("\u{202E}"), "\(broken)")
    }

    @Test(
        "A file that cannot be written is refused before the first run", .enabled(if: SmallDisk.isAvailable),
        arguments: ["--report", "--shrunk"])
    func readOnlyFolder(option: String) async throws {
        try await SmallDisk.with(kibibytes: 64) { disk in
            try await disk.makeReadOnly()
            let ending = try await freshet("simulate", "--seeds", "1", "--steps", "10", option, "\(disk.path)/file")
            #expect(ending.status == ExitStatus.cannotCreate.rawValue && ending.output.isEmpty, "\(ending)")
            #expect(ending.error.contains("Read-only file system"))
        }
    }

    @Test(arguments: ["--report", "--shrunk"])
    func aFileInAFolderThatIsNotThereIsRefusedBeforeTheFirstRun(option: String) async throws {
        let ending = try await freshet("simulate", "--seeds", "1", "--steps", "10", option, "/no/such/folder/file")
        #expect(ending.status == ExitStatus.cannotCreate.rawValue)
        #expect(ending.output.isEmpty)
        #expect(ending.error.contains("there is no folder /no/such/folder"))
    }

    @Test(
        "A folder in the place of a file, and a file without a name, are refused before the first run",
        arguments: ["--report", "--shrunk"])
    func folderForAFile(option: String) async throws {
        let folder = try await freshet("simulate", "--seeds", "1", "--steps", "10", option, "/tmp")
        #expect(folder.status == ExitStatus.cannotCreate.rawValue && folder.output.isEmpty)
        #expect(folder.error.contains("/tmp: it is a folder"))
        let empty = try await freshet("simulate", "--seeds", "1", "--steps", "10", option, "")
        #expect(empty.status == ExitStatus.usage.rawValue && empty.error.contains("\(option) takes a file"))
    }

    @Test("Options of random runs are refused beside a scenario, on which they have no effect")
    func optionsBesideAScenario() async throws {
        let ending = try await freshet("simulate", "--scenario", "-", "--servers", "3", "--seeds", "1...3", "--rights")
        #expect(ending.status == ExitStatus.usage.rawValue)
        #expect(ending.error.contains("--scenario goes without --seeds, --servers, --rights"))
    }

    @Test("A run without a violation writes no shortest scenario") func nothingShrunk() async throws {
        let folder = TemporaryDirectory()
        let ending = try await freshet("simulate", "--seeds", "1", "--steps", "10", "--shrunk", folder.file("short.scenario"))
        #expect(ending.status == 0 && folder.files.isEmpty)
        let broken = try await freshet(
            "simulate", "--seeds", "1...200", "--steps", "500", "--bug", "forgetOutbox", "--shrunk", folder.file("short.scenario"))
        #expect(broken.status == ExitStatus.notFound.rawValue && folder.files == ["short.scenario"])
    }

    @Test(arguments: [
        ["get", "c/1"], ["put", "c/1", "1"], ["list", "c"], ["list", "c", "--json"],
        ["export", "c"], ["watch"], ["watch", "--since", "0"], ["watch", "--since", "0000000000000-1"], ["status"], ["invalidate", "c/1"],
    ])
    func aServerThatIsNotThereIsSaidSo(arguments: [String]) async throws {
        // Given a port that nobody listens on
        let ending = try await freshet(arguments + ["--server", "http://127.0.0.1:9"])
        // Then one line reports it, without colours
        #expect(ending.status == ExitStatus.unavailable.rawValue)
        #expect(ending.error.hasPrefix("error: http://127.0.0.1:9: no connection"))
        #expect(ending.error.split(separator: "\n").count == 1)
    }

    @Test func aFileThatCannotBeImportedIsNamed() async throws {
        let ending = try await freshet("import", "/no/such/file", "--collection", "c", "--id-field", "id")
        #expect(ending.status == ExitStatus.noInput.rawValue)
        #expect(ending.error.hasPrefix("error: cannot read /no/such/file: "))
    }
}
