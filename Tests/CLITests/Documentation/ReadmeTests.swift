import Foundation
import FreshetTestSupport
import Synchronization
import Testing

@testable import freshet

struct ReadmeTests {
    @Test func theExampleIsTheOneThatIsCompiled() throws {
        // Given the README's Swift, and the compiled lines with the test's server and folder written out
        let page = try Project.text(of: "README.md")
        let source = try Project.text(of: "Tests/CLITests/Documentation/ReadmeExample.swift")
        let preamble = "import FreshetClient\n\nstruct Note: Codable, Sendable { var text: String }\n\n"
        let shown = try #require(excerpt(of: page, from: "```swift\n\(preamble)", to: "```"))
        let compiled = try #require(excerpt(of: source, from: "    // README begins\n", to: "    // README ends"))
        let lines = unindented(compiled).replacing("url: server", with: "url: \"http://127.0.0.1:8180\"")
            .replacing(".directory(folder)", with: ".directory(\"./cache\")")
        // Then they are the same
        #expect(shown == lines)
    }

    @Test(arguments: ["README.md", "Sources/ClientSDK/FreshetClient.docc/GettingStarted.md"])
    func theInstallLinesAreThoseOfTheExample(page: String) throws {
        // Given the manifest of the example app, which scripts/examples reads, and what a page says of the package
        let manifest = try Project.text(of: "Examples/Kiosk/Package.swift")
        let text = try Project.text(of: page)
        // Then both name the same package and product
        for part in [#".package(name: "freshet", path: "../"#, #".product(name: "FreshetClient", package: "freshet")"#] {
            #expect(manifest.contains(part) && text.contains(part), "\(part)")
        }
        // And the page names the libraries that scripts/shared.sh installs
        let packages = "libsqlite3-dev libcurl4-openssl-dev libssl-dev pkg-config"
        #expect(try Project.text(of: "scripts/shared.sh").contains(packages) && text.contains(packages))
    }

    @Test(.timeLimit(.minutes(5))) func theExampleRuns() async throws {
        // Given a server
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(executable: Program.path, data: folder.path + "/data")
        let (shown, continuation) = AsyncStream.makeStream(of: String.self)
        // When the example runs until it has shown the confirmed note
        let cache = folder.path + "/cache"
        let example = Task {
            try await readmeExample(server: server.url, folder: cache) { text, isPending in
                continuation.yield("\(text)\(isPending ? ", pending" : "")")
            }
        }
        var lines: [String] = []
        for await line in shown {
            lines.append(line)
            if line == "Hello", lines.count > 1 { break }
        }
        example.cancel()
        // Then the note was shown from the start, as pending unless the server was faster
        #expect(lines.allSatisfy { $0 == "Hello" || $0 == "Hello, pending" })
        _ = await example.result
        #expect(await server.stop() == .exited(0))
    }
}
