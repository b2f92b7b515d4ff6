import ArgumentParser
import FoundationEssentials
import Glibc
import UnixSignals

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show on real data what Freshet does, and check it.",
        discussion: """
            Starts a server and two devices with caches of their own on the ISO tables of countries and languages, and shows a fresh
            read, a write that arrives at the other device, an offline write, a merged conflict, an invalidation and a killed server,
            with the times measured. After each step the caches of both devices, memory and disk, are compared with the server.
            Exits with 1 if anything is not as it should be.

            EXAMPLE
              freshet demo --once
            """)

    @Flag(help: "End after the last check instead of serving on.") var once = false
    @Option(help: "The server's port; 0 takes any free one. (default: \(Serve.defaultPort), and with --once 0)") var port: Int?

    /// Only a server that goes on is looked for at the port that all pages name.
    var chosenPort: Int { port ?? (once ? 0 : Serve.defaultPort) }

    func run() async throws {
        let folder = try Self.makeFolder()
        defer { Self.remove(folder) }
        let slot = ServerSlot()
        let interruption = Task { [once] in
            for await signal in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                await slot.server?.kill()
                Self.remove(folder)
                _exit(once ? 128 + signal.rawValue : 0)
            }
        }
        defer { interruption.cancel() }
        let output = DemoOutput(style: Style(for: .output)) { StandardStream.output.printLine($0) }
        var script = try await DemoScript(folder: folder, port: chosenPort, slot: slot, output: output)
        do {
            try await script.run()
            if !once, script.output.failures.isEmpty { try await script.serveOn() }
        } catch {
            await script.end()
            throw error
        }
        await script.end()
        try script.conclude()
    }

    private static func makeFolder() throws(CommandFailure) -> String {
        var template = Array("\(Environment.current["TMPDIR"] ?? "/tmp")/freshet-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CommandFailure(.cannotCreate, "cannot make a folder for the demo: \(systemReason())") }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
}
