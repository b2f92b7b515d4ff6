import FreshetServer
import FreshetTestSupport
import Testing

private func tryOut(_ exercise: (String) async throws -> Void) async throws {
    // article begins
    let server = try RecordServer.running()
    try await exercise(server.url)
    await server.stop()
    // article ends
}

private func run(port: Int, in directory: String, print: (String) -> Void) throws -> RecordServer {
    // article begins
    let configuration = RecordServerConfiguration(port: port, directory: directory)
    let server = RecordServer(configuration)
    do {
        let address = try server.start()
        print("listening on \(address.url)")
    } catch {
        print("\(error)")  // the cause, and what to do
        throw error
    }
    // article ends
    return server
}

private func runRestored(in directory: String) throws -> RecordServer {
    // article begins
    var configuration = RecordServerConfiguration(directory: directory)
    configuration.isRestored = true  // for the first start after the restore only
    let server = try RecordServer.running(configuration)
    // article ends
    return server
}

@Suite("Article: getting started with the server", .timeLimit(.minutes(5)))
struct GettingStartedTests {
    private let directory = TemporaryDirectory()

    /// Stores a record, and returns the response's status.
    private func put(_ url: String) async throws -> Int {
        try await curl(["-X", "PUT", "-H", "Content-Type: application/json", "-d", "1", "\(url)/v1/shop/records/fruits/apple"]).status
    }

    @Test("a server in memory accepts requests as soon as it runs")
    func inMemory() async throws {
        var status: Int?
        try await tryOut { url in status = try await put(url) }
        #expect(status == 201)
    }

    @Test("records survive a restart, and a restored server begins another epoch")
    func inDirectory() async throws {
        // Given a server with a record
        var lines: [String] = []
        let first = try run(port: 0, in: directory.file("data")) { lines.append($0) }
        #expect(lines == ["listening on \(first.url)"])
        #expect(try await put(first.url) == 201)
        let before = try await curl(["\(first.url)/v1/shop/records/fruits/apple"])
        // When a second server is started on the directory
        lines = []
        do {
            _ = try run(port: 0, in: directory.file("data")) { lines.append($0) }
            Issue.record("a second server uses the directory")
        } catch let error as RecordServerError {
            // Then it prints why it cannot start
            guard case .directoryInUse = error else { throw error }
            #expect(lines == [error.description])
        }
        // When the first has stopped, and the directory is started as a restored one
        await first.stop()
        let restored = try runRestored(in: directory.file("data"))
        let after = try await curl(["\(restored.url)/v1/shop/records/fruits/apple"])
        // Then the record is the same, in another epoch
        #expect(before.status == 200 && after.status == 200 && after.body == before.body)
        #expect(after.fields["freshet-cursor"] != before.fields["freshet-cursor"])
        await restored.stop()
    }
}
