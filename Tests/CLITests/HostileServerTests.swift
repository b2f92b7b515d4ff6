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

    private static let page = deletion(at: 1)

    private static func deletion(at revision: Int) -> String {
        let change = #"{"key":"notes/1","revision":\#(revision),"op":"delete"}"#
        return answer("200 OK", #"{"changes":[\#(change)],"cursor":"0000000000000-\#(revision)","upToDate":true}"#)
    }

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
        let server = Sockets.serve([idle, empty, idle, empty, Self.deletion(at: 2)])
        // When
        let start = ContinuousClock.now
        let ending = try await Program(server: server)("watch", "--since", "0", "--limit", "1")
        // Then a quarter of a second passes after each
        #expect(ending.status == 0 && ending.lines.count == 1, "\(ending)")
        #expect(ContinuousClock.now - start >= .seconds(1))
    }

    @Test("A server whose history is gone again and again is asked ever more slowly") func repeatedResets() async throws {
        // Given four resets with a page after each
        let gone = Self.answer("410 Gone", Self.gone)
        let server = Sockets.serve([gone, Self.page, gone, Self.page, gone, Self.page, gone, Self.page])
        // When
        let start = ContinuousClock.now
        let ending = try await Program(server: server)("watch", "--since", "0000000000000-9", "--limit", "4")
        // Then at least an eighth, a quarter and half a second pass after the second to the fourth
        #expect(ending.status == 0 && ending.lines.count == 4, "\(ending)")
        #expect(ContinuousClock.now - start >= .milliseconds(875))
    }

    private static let constant: [(since: String, limit: Int, answers: [String], fault: String)] = [
        ("0", 2, [page, page], "the page has changes, but does not move on from 0000000000000-1"),
        (
            "0000000000000-1", 1,
            [answer("200 OK", #"{"changes":[],"cursor":"0000000000000-1","upToDate":false}"#), deletion(at: 2)],
            "the page does not move on from 0000000000000-1 although more is to come"
        ),
        ("0000000000000-3", 1, [deletion(at: 2)], "the page's cursor 0000000000000-2 is before the one asked from, 0000000000000-3"),
        (
            "0000000000000-3", 1,
            [answer("204 No Content", "", fields: "Freshet-Store: s\r\nFreshet-Cursor: 0000000000000-2\r\n"), deletion(at: 4)],
            "the answer's position 0000000000000-2 is before the one asked from, 0000000000000-3"
        ),
    ]

    @Test("A page of changes that does not move on ends a watch", arguments: Self.constant)
    func constantChanges(since: String, limit: Int, answers: [String], fault: String) async throws {
        // Given such a page; When changes are watched
        let server = Sockets.serve(answers)
        let ending = try await Program(server: server)("watch", "--since", since, "--limit", "\(limit)")
        // Then
        #expect(ending.status == ExitStatus.software.rawValue, "\(ending)")
        #expect(ending.error == "error: \(server): \(fault); does a cache on the way ignore the query of a URL?\n")
    }

    @Test("A list whose pages do not move on is an error", arguments: [["list", "c"], ["list", "c", "--json"], ["export", "c"]])
    func constantList(arguments: [String]) async throws {
        // Given a cache that gives one page for each query
        let page = Self.answer("200 OK", #"{"records":[],"next":"a","cursor":"0000000000000-1"}"#)
        let last = Self.answer("200 OK", #"{"records":[],"next":null,"cursor":"0000000000000-1"}"#)
        let server = Sockets.serve([page, page, last])
        // When
        let ending = try await Program(server: server)(arguments)
        // Then
        #expect(ending.status == ExitStatus.software.rawValue && ending.output.isEmpty, "\(ending)")
        #expect(ending.error.hasPrefix("error: \(server): the page after 'a' leads to 'a', which is not after it"), "\(ending)")
    }

    @Test(
        "An answer of more than 64 MiB is refused by its length",
        arguments: [["get", "notes/1"], ["export", "c"], ["watch", "--since", "now"], ["watch", "--since", "0", "--limit", "2"]])
    func largeAnswer(arguments: [String]) async throws {
        // Given such an answer, and a page of changes before it for the one that watches for two
        let large = "HTTP/1.1 200 OK\r\nFreshet-Store: s\r\nContent-Length: \((64 << 20) + 1)\r\nConnection: close\r\n\r\n"
        let server = Sockets.serve(arguments.contains("--limit") ? [Self.page, large, Self.deletion(at: 2)] : [large])
        // When
        let ending = try await Program(server: server)(arguments)
        // Then
        #expect(ending.status == ExitStatus.software.rawValue, "\(ending)")
        #expect(ending.error == "error: \(server): the answer has more than 67,108,864 bytes; is it a Freshet server?\n")
    }

    @Test("A record that this version does not understand is not shown as another") func unreadableRecord() async throws {
        // Given a server that sends a value in a form of a later version, in lists and in single reads
        let record = #"{"key":"notes/1","revision":6,"body":{"zstd":"AA"}}"#
        let body = #"{"records":[\#(record)],"missing":[],"next":null,"cursor":"0000000000000-6"}"#
        let answer = Self.answer("200 OK", body)
        let server = ScriptedServer { connection in
            if connection.request() != nil { connection.send(answer) }
        }
        // When it is read and listed
        let read = try await Program(server: server.url)("get", "notes/1", "--json")
        let listed = try await Program(server: server.url)("list", "notes")
        // Then one is an error, and the other states no size
        #expect(read.status == ExitStatus.software.rawValue && read.output.isEmpty, "\(read)")
        #expect(read.error.contains("notes/1 in a form that this version does not understand"), "\(read)")
        #expect(listed.output == "       6  1  (not understood by this version)\n", "\(listed)")
        #expect(server.connections == 2)
    }
}
