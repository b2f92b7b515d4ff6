import FreshetServer
import FreshetWire
import Testing

@testable import freshet

/// Output of text from a server, on a terminal and elsewhere.
@Suite(.timeLimit(.minutes(5)))
struct TerminalOutputTests {
    private static let hostile = "a\u{1B}]0;title\u{7}\tb\n\u{202E}c\u{9B}31m"

    /// Whether the text holds no terminal command.
    private static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || TerminalText.escaped(String($0), as: .line) == String($0) }
    }

    @Test func aValueIsEscapedOnATerminalOnly() async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        // Given a value that holds terminal commands
        #expect(try await freshet("put", "notes/1", "--content-type", "text/plain", input: Self.hostile).status == 0)
        // When it is read on a terminal and through a pipe
        let shown = try await freshet.onTerminals("get", "notes/1")
        let piped = try await freshet("get", "notes/1")
        // Then the terminal shows escapes and ends the line, and the pipe has the bytes
        #expect(shown.status == 0 && shown.error.isEmpty)
        #expect(shown.output == #"a\u{1b}]0;title\u{7}"# + "\tb\n" + #"\u{202e}c\u{9b}31m"# + "\n")
        #expect(Array(piped.output.utf8) == Array(Self.hostile.utf8))
        await server.stop()
    }

    @Test func linesAreEscapedOnATerminalOnly() async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        // Given a record with an id, JSON and another with a media type that hold terminal commands
        #expect(try await freshet("put", "notes/x\u{1B}[2J", "{\"a\":\r\n\"\u{202E}\u{7F}\"}").status == 0)
        for arguments in [["list", "notes"], ["watch", "--since", "0", "--limit", "1"]] {
            // When it is listed and watched on a terminal
            let shown = try await freshet.onTerminals(arguments)
            // Then
            #expect(shown.status == 0 && Self.isHarmless(shown.output) && shown.lines.count == 1, "\(shown)")
            #expect(shown.output.contains(#"x\u{1b}[2J  {"a":  "\u{202e}\u{7f}"}"#), "\(shown.output)")
            // And in a pipe a line has its usual text
            #expect(try await freshet(arguments).output.contains("x [2J  {\"a\":  \"\u{202E} \"}"))
        }
        await server.stop()
    }

    @Test(arguments: [["get", "notes/1"], ["list", "notes"], ["watch", "--since", "0", "--limit", "1"]])
    func jsonIsEscapedAsJSONOnATerminalOnly(arguments: [String]) async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        #expect(try await freshet("put", "notes/1", "{\"a\":\r\n\"\u{202E}\u{9B}\u{7F}\"}").status == 0)
        // When
        let shown = try await freshet.onTerminals(arguments + ["--json"])
        let piped = try await freshet(arguments + ["--json"])
        // Then both are one line of JSON, and only the pipe has the characters themselves
        #expect(shown.lines.count == 1 && piped.lines.count == 1)
        #expect(shown.output.contains(#""value":{"a":  "\u202e\u009b\u007f"}"#) && Self.isHarmless(shown.output))
        #expect(piped.output.contains("\"value\":{\"a\":  \"\u{202E}\u{9B}\u{7F}\"}"))
        for output in [shown.output, piped.output] { try JSONReader.validate(Array(output.utf8)) }
        await server.stop()
    }

    @Test func anEmptyListIsSaidOnATerminalOnly() async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        for arguments in [["list", "notes"], ["list", "notes", "--json"]] {
            let shown = try await freshet.onTerminals(arguments + ["--prefix", "a\u{1B}"])
            #expect(shown.status == 0 && shown.output.isEmpty)
            #expect(shown.error == #"no record in notes with an id that begins with 'a\u{1b}', namespace default"# + "\n")
            let piped = try await freshet(arguments)
            #expect(piped.status == 0 && piped.output.isEmpty && piped.error.isEmpty)
        }
        await server.stop()
    }

    @Test("A watch ends when its reader has gone, without a further change") func watchWithoutReader() async throws {
        // Given a record
        let server = try RecordServer.running()
        #expect(try await Program(server: server.url)("put", "notes/1", "1").status == 0)
        // When the reader takes its change and no more
        let ending = try await Program.shell(
            "set -o pipefail; timeout 60 '\(Program.path)' watch --since 0 --server '\(server.url)' | head -1")
        // Then
        #expect(ending.status == 0 && ending.lines.count == 1 && ending.error.isEmpty, "\(ending)")
        await server.stop()
    }

    @Test func errorsAreEscapedOnATerminalOnly() async throws {
        let server = try RecordServer.running()
        let freshet = Program(server: server.url)
        // Given a key that holds terminal commands, which the server's problem repeats
        let key = "notes/x\u{1B}[2J\u{202E}"
        // When
        let shown = try await freshet.onTerminals("get", key)
        let piped = try await freshet("get", key)
        // Then
        #expect(shown.status == ExitStatus.notFound.rawValue && shown.output.isEmpty)
        #expect(shown.error.contains(#"notes/x\u{1b}[2J\u{202e}"#) && Self.isHarmless(shown.error) && shown.error.hasSuffix("\n"))
        #expect(piped.error.contains(key))
        // And so are usage errors
        let usage = try await freshet.onTerminals("get", "no\u{1B}key")
        #expect(usage.status == ExitStatus.usage.rawValue && usage.error.contains(#"no\u{1b}key"#) && Self.isHarmless(usage.error))
        await server.stop()
    }
}
