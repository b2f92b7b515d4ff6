import ArgumentParser
import Glibc

@main
struct Freshet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "freshet",
        abstract: "Keeps caches fresh: a record server with a change feed, and what talks to it.",
        discussion: """
            EXIT STATUS
            \(ExitStatus.table)
            """,
        version: "0.1.0",
        subcommands: [
            Serve.self, Demo.self, Get.self, Put.self, Patch.self, Delete.self, List.self, Watch.self, Invalidate.self, Import.self,
            Status.self, Simulate.self, Search.self, Worlds.self, CacheCommand.self,
        ]
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            StandardStream.error.printLine("\(Style(for: .error).red("error:")) \(failure.message)")
            Glibc.exit(failure.status.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
