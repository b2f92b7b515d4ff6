import ArgumentParser
import FreshetServer

/// `freshet config …`: the configuration file of a server.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the configuration file of a server.",
        discussion: """
            The file is that of 'freshet serve --config'.

            EXAMPLES
              freshet config check freshet.json
            """,
        subcommands: [ConfigCheck.self])
}

struct ConfigCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a file without starting a server.",
        discussion: """
            Checks all that 'freshet serve --config' checks before it listens. An error states the line and the byte.

            EXAMPLES
              freshet config check freshet.json
            """)

    @Argument(help: "The file; - for standard input.", completion: .file(extensions: ["json"])) var file: String

    func run() throws {
        _ = try ConfigurationFile(path: file).settings(RecordServerConfiguration())
        StandardStream.output.printLine("\(file) is valid")
    }
}
