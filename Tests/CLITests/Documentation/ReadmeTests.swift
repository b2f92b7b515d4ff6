import Foundation
import FreshetTestSupport
import Glibc
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

    @Test("the commands of 'Securing it' lead to a key that reads one collection", .timeLimit(.minutes(5)))
    func theCommandsThatSecureAServer() async throws {
        // Given the page's commands, in a new folder
        let page = try Project.text(of: "README.md")
        let section = try #require(excerpt(of: page, from: "## Securing it", to: "## In the tests"))
        let commands = try #require(excerpt(of: section, from: "```sh\n", to: "```")).split(separator: "\n").map(String.init)
        #expect(commands.count == 4 && commands.allSatisfy { $0.hasPrefix("freshet ") })
        let folder = TemporaryDirectory()
        let port = try await FreePort.shared.next()
        let serve = try #require(commands.first).dropFirst("freshet ".count).replacing("./", with: folder.path + "/")
        let process = try ChildProcess(
            executable: Program.path,
            arguments: serve.split(separator: " ").map(String.init) + [
                "--port", "\(port)", "--data", folder.file("data"), "--until-input-ends",
            ])
        for await line in process.lines where ServerProcess.url(in: line) != nil { break }
        func run(_ command: String) async throws -> Program.Ending {
            let variables = "export FRESHET_SERVER=http://127.0.0.1:\(port); freshet() { '\(Program.path)' \"$@\"; }"
            return try await Program.shell("cd \(folder.path); \(variables); \(command)")
        }
        // When they run
        var last = ""
        for command in commands.dropFirst() {
            let ending = try await run(command)
            #expect(ending.status == 0, "\(command): \(ending.error)")
            last = ending.output
        }
        // Then the device reads, and an error leads further where it may not
        #expect(last == #"{"price":3}"#)
        for command in ["put articles/1 2", "get orders/1"] {
            let refused = try await run("freshet \(command) --namespace shop --token-file till.key")
            #expect(refused.status == freshet.ExitStatus.noPermission.rawValue && refused.error.contains("'freshet status'"))
        }
        #expect(try await run("freshet get articles/1 --namespace shop").status == freshet.ExitStatus.noPermission.rawValue)
        #expect(try await run("freshet rights shop:articles/1 read --token-file till.key").output.contains("shop:articles allows it"))
        process.send(SIGTERM)
        #expect(await process.ending() == .exited(0))
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
