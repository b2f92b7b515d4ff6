import FreshetTestSupport
import Testing

@testable import freshet

/// Output for answers that no Freshet server would give.
@Suite(.timeLimit(.minutes(5)))
struct HostileServerTests {
    /// - Parameter fields: lines of its head; by default those of every answer of a Freshet server.
    private static func answer(_ status: String, _ body: String, fields: String = "Freshet-Store: s\r\n") -> String {
        "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    private static let page = answer(
        "200 OK", #"{"changes":[{"key":"notes/1","revision":1,"op":"delete"}],"cursor":"0000000000000-1","upToDate":true}"#)
    private static let gone = #"{"type":"urn:freshet:problem:epoch-changed","status":410,"detail":"gone\u001b[2J"}"#

    @Test func aNoteIsEscapedOnATerminal() async throws {
        // Given a server that sends terminal commands in its reason for a reset
        let server = Sockets.serve([Self.answer("410 Gone", Self.gone), Self.page])
        // When its changes are watched
        let ending = try await Program(server: server).onTerminals("watch", "--since", "0000000000000-9", "--limit", "1")
        // Then the note shows it
        #expect(ending.status == 0 && ending.lines.count == 1)
        #expect(ending.error == #"note: gone\u{1b}[2J; printing everything from the start"# + "\n")
    }

    @Test func aCursorThatCannotBeReadIsAnErrorOfTheServer() async throws {
        // Given a server whose cursor is invalid
        let server = Sockets.serve([
            "HTTP/1.1 204 No Content\r\nFreshet-Store: s\r\nFreshet-Cursor: nonsense\r\nConnection: close\r\n\r\n"
        ])
        // When its changes are watched; Then the status is not that of a missing record
        let ending = try await Program(server: server)("watch")
        #expect(ending.status == ExitStatus.software.rawValue)
        #expect(ending.error.hasPrefix("error: the server's answer cannot be read: 'nonsense' is no cursor"))
    }

    @Test func aNumberOfDecidedWritesThatCannotBeEndsAnImport() async throws {
        // Given a server that states fewer than none
        let server = Sockets.serve([Self.answer("200 OK", #"{"client":"d","last":-9000000}"#)])
        // When
        let ending = try await Program(server: server)("import", "-", "--format", "ndjson", input: #"{"key":"notes/1","value":1}"#)
        // Then
        #expect(ending.status == ExitStatus.software.rawValue, "\(ending)")
        #expect(ending.error.hasPrefix("error: the server's answer cannot be read") && ending.error.contains("-9000000"), "\(ending)")
    }

    @Test("An answer that is no server's names the URL") func answerWithoutProblem() async throws {
        // Given a server that is none of records
        let server = Sockets.serve([Self.answer("404 Not Found", "<html>")])
        // When
        let ending = try await Program(server: server)("get", "notes/1")
        // Then
        #expect(ending.status == ExitStatus.software.rawValue)
        #expect(ending.error.hasPrefix("error: \(server): the answer") && ending.error.contains("is it a Freshet server?"))
    }

    @Test(
        "An answer of success that is no server's is a failure, whatever the command",
        arguments: [["key", "revoke", "aaaaaaaaaa"], ["reload"], ["get", "notes/1"], ["watch"], ["watch", "--since", "0"]])
    func loginPage(arguments: [String]) async throws {
        // Given a login page, which answers every request
        let server = Sockets.serve([Self.answer("200 OK", "<html>", fields: "")])
        // When
        let ending = try await Program(server: server)(arguments)
        // Then
        #expect(ending.status == ExitStatus.software.rawValue && ending.output.isEmpty, "\(ending)")
        #expect(ending.error == "error: \(server): the answer with status 200 is not from a Freshet server\n")
    }

    @Test("A value without a length is not printed: it may be cut") func valueWithoutLength() async throws {
        // Given a proxy that removes lengths, and a connection that ended within the value
        let server = Sockets.serve(["HTTP/1.1 200 OK\r\nFreshet-Store: s\r\nConnection: close\r\n\r\n{\"v\":"])
        // When
        let ending = try await Program(server: server)("get", "notes/1")
        // Then
        #expect(ending.status == ExitStatus.unavailable.rawValue && ending.output.isEmpty, "\(ending)")
        #expect(ending.error.hasPrefix("error: \(server): the response states no length"), "\(ending)")
    }

    @Test(
        "A cursor counts as gone only if the server says so, of a cursor",
        arguments: [("0000000000000-9", "<html>"), ("0", Self.gone), ("now", Self.gone)])
    func foreignGone(since: String, body: String) async throws {
        // Given an answer that would have everything printed again
        let server = Sockets.serve([Self.answer("410 Gone", body), Self.page])
        // When
        let ending = try await Program(server: server)("watch", "--since", since, "--limit", "1")
        // Then
        #expect(ending.status != 0 && ending.output.isEmpty, "\(ending)")
    }

    @Test("An idle answer without a position is an error") func idleWithoutCursor() async throws {
        let server = Sockets.serve([Self.answer("204 No Content", ""), Self.page])
        let ending = try await Program(server: server)("watch", "--since", "0", "--limit", "1")
        #expect(ending.status == ExitStatus.software.rawValue && ending.error.contains("no Freshet-Cursor"), "\(ending)")
    }

    @Test("A server that answers polls at once, without changes, is not asked without a pause") func busyServer() async throws {
        // Given four such answers
        let idle = Self.answer("204 No Content", "", fields: "Freshet-Store: s\r\nFreshet-Cursor: 0000000000000-1\r\n")
        let empty = Self.answer("200 OK", #"{"changes":[],"cursor":"0000000000000-1","upToDate":true}"#)
        let server = Sockets.serve([idle, empty, idle, empty, Self.page])
        // When
        let start = ContinuousClock.now
        let ending = try await Program(server: server)("watch", "--since", "0", "--limit", "1")
        // Then a quarter of a second passes after each
        #expect(ending.status == 0 && ending.lines.count == 1, "\(ending)")
        #expect(ContinuousClock.now - start >= .seconds(1))
    }
}
