import FreshetTestSupport
import Testing

@testable import freshet

/// Output for answers that no Freshet server would give.
@Suite(.timeLimit(.minutes(5)))
struct HostileServerTests {
    private static func answer(_ status: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    @Test func aNoteIsEscapedOnATerminal() async throws {
        // Given a server that sends terminal commands in its reason for a reset
        let problem = #"{"type":"urn:freshet:problem:epoch-changed","status":410,"detail":"gone\u001b[2J"}"#
        let page = #"{"changes":[{"key":"notes/1","revision":1,"op":"delete"}],"cursor":"0000000000000-1","upToDate":true}"#
        let server = Sockets.serve([Self.answer("410 Gone", problem), Self.answer("200 OK", page)])
        // When its changes are watched
        let ending = try await Program(server: server).onTerminals("watch", "--limit", "1")
        // Then the note shows it
        #expect(ending.status == 0 && ending.lines.count == 1)
        #expect(ending.error == #"note: gone\u{1b}[2J; printing everything from the start"# + "\n")
    }

    @Test func aCursorThatCannotBeReadIsAnErrorOfTheServer() async throws {
        // Given a server whose cursor is invalid
        let server = Sockets.serve(["HTTP/1.1 204 No Content\r\nFreshet-Cursor: nonsense\r\nConnection: close\r\n\r\n"])
        // When its changes are watched; Then the status is not that of a missing record
        let ending = try await Program(server: server)("watch")
        #expect(ending.status == ExitStatus.software.rawValue)
        #expect(ending.error.hasPrefix("error: the server's answer cannot be read: 'nonsense' is no cursor"))
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
}
