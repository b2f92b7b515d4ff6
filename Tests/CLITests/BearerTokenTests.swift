import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetTransport
import FreshetWire
import HTTPTypes
import Logging
import Testing

@testable import freshet

/// A token from a file.
@Suite(.timeLimit(.minutes(5)))
struct BearerTokenTests {
    private let folder = TemporaryDirectory()

    private func write(_ text: String, to name: String = "token") {
        folder.write(Array(text.utf8), to: name)
    }

    @Test(arguments: ["abc.def-1", "abc.def-1\n"])
    func aFileHoldsATokenAndPerhapsAnEndOfLine(text: String) throws {
        write(text)
        #expect(try BearerToken(file: folder.file("token")).text == "abc.def-1")
    }

    @Test(arguments: [
        ("", "is empty"), ("\n", "is empty"), ("a\n\n", "byte 2"), ("a\nb\n", "byte 2"), ("a\r\n", "byte 2"), ("a b", "byte 2"),
        ("ab\u{1B}", "byte 3"), ("é", "byte 1"), ("a\0", "byte 2"),
    ])
    func aFileWithoutATokenIsSaidToBe(text: String, problem: String) {
        write(text)
        let error = #expect(throws: freshet.CommandFailure.self) { try BearerToken(file: folder.file("token")) }
        #expect(error?.status == .data && error?.message.contains(problem) == true && error?.message.contains(folder.path) == true)
    }

    @Test func aFileThatIsTooLargeIsSaidToBe() throws {
        write(String(repeating: "a", count: BearerToken.maximumFileSize))
        #expect(try BearerToken(file: folder.file("token")).text.utf8.count == BearerToken.maximumFileSize)
        write(String(repeating: "a", count: BearerToken.maximumFileSize + 1))
        for path in [folder.file("token"), "/dev/zero"] {
            let error = #expect(throws: freshet.CommandFailure.self) { try BearerToken(file: path) }
            #expect(error?.message == "\(path) has more than 8,192 bytes")
        }
    }

    @Test func aFileThatCannotBeReadIsSaidToBe() {
        for path in [folder.file("absent"), folder.path] {
            let error = #expect(throws: freshet.CommandFailure.self) { try BearerToken(file: path) }
            #expect(error?.status == .noInput && error?.message.hasPrefix("cannot read \(path): ") == true)
        }
    }

    @Test func aNewerTokenComesFromTheFile() throws {
        write("till.1")
        let token = try BearerToken(file: folder.file("token"))
        // Given the same token, there is no newer one
        #expect(try token.renewed(after: "till.1") == nil)
        // When the file has another, it is used from then on
        write("till.2")
        #expect(try token.renewed(after: "till.1") == "till.2")
        #expect(token.text == "till.2")
        // And a token that was given as text has no newer one
        #expect(try BearerToken("till.1", from: "--token").renewed(after: "till.1") == nil)
    }

    @Test func aFileThatIsGoneSaysThatTheTokenWasRefused() throws {
        write("till.1")
        let token = try BearerToken(file: folder.file("token"))
        folder.remove("token")
        let error = #expect(throws: freshet.CommandFailure.self) { try token.renewed(after: "till.1") }
        #expect(error?.status == .noPermission && error?.message.contains(folder.file("token")) == true)
    }

    @Test func aRotatedTokenIsTakenWithoutAnError() async throws {
        // Given a server that refuses the file's earlier token
        let server = try FaultServer(RecordServerConfiguration(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        write("till.1")
        let token = try BearerToken(file: folder.file("token"))
        let remote = try Remote(server: server.url, namespace: Namespace("shop"), token: token)
        let fault = Array(#"{"effect":"expire-token","device":"till","generation":1}"#.utf8)
        let path = "/v1/shop/records/fruits/fig"
        _ = try await remote.reply(.put, path, fields: [.contentType: Content.json], body: [0x31])
        _ = try await remote.reply(.post, "/v1/shop/faults", fields: [.contentType: Content.json], body: fault)
        let refused = await #expect(throws: freshet.CommandFailure.self) { try await remote.reply(.get, path) }
        #expect(refused?.status == .noPermission)
        // When the file has another
        write("till.2")
        // Then the request is answered, and so are the next ones
        #expect(try await remote.reply(.get, path).body == [0x31])
        #expect(try await remote.reply(.get, path).body == [0x31])
        await server.stop()
    }

    @Test func watchGoesOnWithARotatedToken() async throws {
        // Given a watcher with a token that it reads from a file
        let server = try FaultServer(RecordServerConfiguration(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let freshet = Program(server: server.url)
        let remote = try Remote(server: server.url, namespace: Namespace("default"))
        write("till.1")
        #expect(try await freshet("put", "notes/1", "1").status == 0)
        async let watched = freshet("watch", "--since", "0", "--json", "--limit", "2", "--token-file", folder.file("token"))
        // When the token is replaced while it waits, and the old one refused
        while try await remote.ask(.get, remote.namespace.path, as: NamespaceStatus.self).waiting == 0 { await Task.yield() }
        write("till.2")
        let fault = Array(#"{"effect":"expire-token","device":"till","generation":1}"#.utf8)
        _ = try await remote.reply(.post, "/v1/default/faults", fields: [.contentType: Content.json], body: fault)
        #expect(try await freshet("put", "notes/2", "2").status == 0)
        // Then the watcher receives the later changes
        let ending = try await watched
        #expect(ending.status == 0 && ending.error.isEmpty)
        #expect(try ending.lines.map { try Change(json: Array($0.utf8)).revision.number } == [1, 2])
        await server.stop()
    }
}
