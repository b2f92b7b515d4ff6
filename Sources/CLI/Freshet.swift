import ArgumentParser
import FreshetWire
import Glibc
import Logging

@main
struct Freshet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "freshet",
        abstract: "Keeps caches fresh: a record server with a change feed, and what talks to it.",
        discussion: """
            EXIT STATUS
            \(ExitStatus.table)
            """,
        version: Version.current,
        subcommands: [
            Serve.self, Demo.self, Get.self, Put.self, Patch.self, Delete.self, List.self, Watch.self, Invalidate.self, Export.self,
            Import.self, Status.self, KeyCommand.self, TokenCommand.self, RightsCommand.self, Revoke.self, Reload.self, ConfigCommand.self,
            StoreCommand.self, Copy.self,
            AuditCommand.self, Simulate.self, Search.self, Worlds.self, CacheCommand.self,
        ]
    )

    static func main() async {
        StandardDescriptors.openClosed()
        LoggingSystem.bootstrap { EscapingLogHandler(StreamLogHandler.standardError(label: $0)) }
        if let failure = ArgumentEncoding.failureOfProcess() { end(failure) }
        if let unknown = UnknownCommand(CommandLine.arguments.dropFirst(), root: Freshet.self) { end(unknown.failure) }
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            leave(EXIT_SUCCESS)
        } catch let failure as CommandFailure {
            end(failure)
        } catch let error as WireError {
            end(CommandFailure(.software, "the server's answer cannot be read: \(error.description)"))
        } catch {
            let status = exitCode(for: error)
            // Help and version are no errors.
            if status.isSuccess { exit(withError: error) }
            let message = fullMessage(for: error)
            let hint = NegativeNumber.hint(for: message, CommandLine.arguments.dropFirst()).map { "\n" + $0 } ?? ""
            StandardStream.error.printValue(Array((message + hint + "\n").utf8))
            leave(status.rawValue)
        }
    }

    private static func end(_ failure: CommandFailure) -> Never {
        StandardStream.error.printLine("\(Style(for: .error).red("error:")) \(StandardStream.error.visible(failure.message))")
        leave(failure.status.rawValue)
    }

    /// Ends the process without exit handlers: the thread of a transport that was just released may still use OpenSSL, whose handler frees
    /// what that thread uses.
    private static func leave(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }
}
