import Testing

@testable import freshet

struct UnknownCommandTests {
    private func unknown(_ arguments: String...) -> UnknownCommand? { UnknownCommand(arguments, root: Freshet.self) }

    @Test(arguments: [
        ("gett", ["get"]), ("GET", ["get"]), ("lsit", ["list"]), ("pet", ["get", "put"]), ("improt", ["import"]),
        ("invalidat", ["invalidate"]), ("inval", ["invalidate"]), ("sim", ["simulate"]), ("frobnicate", []), ("x", []), ("", []),
        (String(repeating: "get", count: 100), []),
    ])
    func theNearestCommandsAreSuggested(word: String, names: [String]) {
        #expect(unknown(word)?.suggestions == names)
    }

    @Test func commandsWithinCommandsAreSuggestedToo() {
        #expect(unknown("cache", "cler")?.failure.message.contains("Did you mean 'freshet cache clear'?") == true)
        #expect(unknown("help", "cache", "cler")?.suggestions == ["clear"])
        #expect(unknown("help", "gett")?.suggestions == ["get"])
    }

    @Test(arguments: [
        [], ["help"], ["--version"], ["get", "gett"], ["get", "c/1", "--json"], ["cache"], ["cache", "clear", "x"], ["help", "get"],
        ["--generate-completion-script", "bash"], ["cache", "--help"],
    ])
    func whatIsACommandIsNoneOfThem(arguments: [String]) {
        #expect(UnknownCommand(arguments, root: Freshet.self) == nil)
    }

    @Test func theProgramSuggestsACommand() async throws {
        // Given a word similar to a command, before an option of that command
        let ending = try await Program()("gett", "notes/1", "--json")
        // Then one line suggests the command
        #expect(ending.status == ExitStatus.usage.rawValue)
        #expect(ending.output.isEmpty)
        #expect(
            ending.error
                == "error: 'gett' is no command of 'freshet'. Did you mean 'freshet get'? `freshet help` lists them\n")
        let far = try await Program()("frobnicate")
        #expect(far.error == "error: 'frobnicate' is no command of 'freshet'. `freshet help` lists them\n")
    }
}
