import ArgumentParser
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
        let lines = unindented(compiled).replacing("url: server", with: "url: \"\(RemoteOptions.defaultServer)\"")
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

    @Test("the first program shows its note at the server of the first command", .timeLimit(.minutes(5)))
    func theFirstProgramRuns() async throws {
        // Given the page's first command, which is the demo of the release build
        let commands = try #require(excerpt(of: try Project.text(of: "README.md"), from: "```sh\n", to: "```"))
        #expect(commands.hasPrefix("scripts/run "))
        #expect(try Project.text(of: "scripts/run").hasSuffix("/freshet\" demo \"$@\"\n"))
        // And the demo, at a port of the test's own, once it goes on serving
        let port = try await FreePort.shared.next()
        let demo = try ChildProcess(executable: Program.path, arguments: ["demo", "--port", "\(port)"])
        defer { demo.send(SIGKILL) }
        let server = "http://127.0.0.1:\(port)"
        var output: [String] = []
        for await line in demo.lines {
            output.append(line)
            if line.hasPrefix("Serving on \(server)") { break }
        }
        try #require(output.last?.hasPrefix("Serving on") == true, "\(output.joined(separator: "\n"))")
        // When the program runs until it has shown the confirmed note
        let folder = TemporaryDirectory()
        let (shown, continuation) = AsyncStream.makeStream(of: String.self)
        let example = Task {
            defer { continuation.finish() }
            try await readmeExample(server: server, folder: folder.file("cache")) { (texts: String...) in
                continuation.yield(texts.joined(separator: " "))
            }
        }
        var lines: [String] = []
        for await line in shown {
            lines.append(line)
            if line.hasSuffix("(confirmed)") { break }
        }
        // Then it has printed what the page says
        #expect(lines == ["Hello", "Hello (confirmed)"])
        #expect(try Project.text(of: "README.md").contains("# prints Hello, then Hello (confirmed), then each change"))
        example.cancel()
        _ = await example.result
        demo.send(SIGINT)
        #expect(await demo.ending() == .exited(0))
    }

    @Test("a server is at one port, which all pages and examples name")
    func everythingNamesOnePort() throws {
        // Given the commands' defaults
        #expect(Serve.defaultPort == 8_180 && RemoteOptions.defaultServer == "http://127.0.0.1:8180")
        #expect(try Demo.parse([]).chosenPort == Serve.defaultPort)
        #expect(try Demo.parse(["--once"]).chosenPort == 0)
        #expect(try Demo.parse(["--port", "8280"]).chosenPort == 8_280)
        // Then every other port that a page names for this machine is a second server's or a proxy's
        let pages = try Project.files(in: ["docs", "docker", "Examples", "Sources"]) + ["README.md", "SECURITY.md", "CONTRIBUTING.md"]
        var found = 0
        for page in pages where !page.hasSuffix(".svg") {
            guard let text = try? Project.text(of: page) else { continue }
            for address in text.matches(of: /(127\.0\.0\.1|localhost):(?<port>[0-9]+)/) {
                #expect(["8180", "8181", "8080"].contains(address.output.port), "\(page) names \(address.output.0)")
                found += 1
            }
        }
        #expect(found > 20)
    }

    @Test("a port that is taken ends the demo with what to do", .timeLimit(.minutes(5)))
    func aPortThatIsTaken() async throws {
        // Given a server
        let folder = TemporaryDirectory()
        let server = try await ServerProcess.start(executable: Program.path, data: folder.file("data"))
        // When the demo, or another server, is to have its port
        let port = "\(server.port)"
        for command in [["demo", "--port", port], ["serve", "--memory", "--port", port]] {
            let ending = try await Program()(command)
            // Then the error names the remedy
            #expect(ending.status == freshet.ExitStatus.unavailable.rawValue)
            let advice = "127.0.0.1:\(port) is in use: stop the program that listens there, or choose another port by --port"
            #expect(ending.error.contains(advice), "\(ending.error)")
        }
        #expect(await server.stop() == .exited(0))
    }
}
