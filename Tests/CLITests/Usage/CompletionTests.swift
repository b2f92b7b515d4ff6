import ArgumentParser
import FreshetSimulator
import FreshetTestSupport
import Testing

@testable import freshet

/// The output of `--generate-completion-script`.
@Suite(.timeLimit(.minutes(5)))
struct CompletionTests {
    /// The completions that bash offers at the end of a command, in a folder that has the file `notes.ndjson` and the
    /// directory `data`.
    private func completions(_ words: [String]) async throws -> [String] {
        let folder = TemporaryDirectory()
        folder.write([], to: "notes.ndjson")
        let script = """
            cd \(folder.path) && mkdir data
            eval "$('\(Program.path)' --generate-completion-script bash)"
            COMP_WORDS=(freshet "$@"); COMP_CWORD=$#
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
            _freshet freshet "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        return try await Program.shell("set -- \(words.map { "'\($0)'" }.joined(separator: " "))\n\(script)").lines
    }

    @Test func filesAreOffered() async throws {
        for words in [
            ["import"], ["get", "--token-file"], ["cache", "replay", "--trace"], ["simulate", "--scenario"], ["simulate", "--report"],
            ["simulate", "--shrunk"],
        ] {
            #expect(try await completions(words + [""]).contains("notes.ndjson"), "\(words)")
        }
    }

    @Test func onlyDirectoriesAreOffered() async throws {
        for words in [["serve", "--data"], ["search", "--corpus"], ["cache", "inspect"], ["cache", "stats"], ["cache", "clear"]] {
            let offered = try await completions(words + [""])
            #expect(offered.contains { $0 == "data" || $0 == "data/" } && !offered.contains("notes.ndjson"), "\(words): \(offered)")
        }
    }

    @Test(arguments: [
        (["import", "--format", ""], ["json", "ndjson", "csv"]), (["import", "--format", "n"], ["ndjson"]),
        (["watch", "--since", ""], ["0", "now"]), (["simulate", "--faults", "al"], ["all"]),
        (["worlds", "--world", ""], SmallCatalog.worlds.map(\.name)), (["exp"], ["export"]), (["cache", "cl"], ["clear"]),
        (["export", "--af"], ["--after"]), (["put", "--content-type", "text"], ["text/plain"]),
    ])
    func valuesAreOffered(words: [String], offered: [String]) async throws {
        #expect(try await completions(words).sorted() == offered.sorted())
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func eachShellHasAllCommands(shell: String) async throws {
        // When a script is generated
        let script = try await Program()("--generate-completion-script", shell)
        // Then it has all commands, and their options and arguments
        #expect(script.status == 0)
        for command in Freshet.configuration.subcommands {
            #expect(script.output.contains(command._commandName), "\(command._commandName)")
        }
        for option in ["token-file", "id-field", "content-type", "ndjson", "octet-stream"] {
            #expect(script.output.contains(option), "\(option)")
        }
    }
}
