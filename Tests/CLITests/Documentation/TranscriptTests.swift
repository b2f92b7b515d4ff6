import FreshetTestSupport
import Subprocess
import Testing

@testable import freshet

struct TranscriptTests {
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [("README.md", []), ("docs/protocol.md", []), ("docs/testkit.md", ["--memory", "--test-faults"])])
    func examplesPrintWhatThePageSays(page: String, options: [String]) async throws {
        // Given a new server, which keeps its records in memory if it is for tests, and the examples of a page
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(
            executable: Program.path, data: options.isEmpty ? folder.path + "/data" : nil, options: options)
        let examples = try Transcript(page: page).examples
        #expect(!examples.isEmpty)
        for example in examples {
            // When each command is run by a shell, one after the other
            let result = try await run(
                .name("bash"), arguments: ["-c", example.command], environment: .inherit.updating(["FRESHET": server.url]),
                output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
            // Then it prints the output below it, except for epochs and times
            let seen = Transcript.comparable(result.standardOutput)
            #expect(seen == Transcript.comparable(example.output), "\(example.place): \(example.command)\n\(result.standardError)")
        }
        #expect(await server.stop() == .exited(0))
    }
}
