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
            Checks all that 'freshet serve --config' checks before it listens, the certificates included. An error states the
            line and the byte, or the file.

            EXAMPLES
              freshet config check freshet.json
            """)

    @Argument(help: "The file; - for standard input.", completion: .file(extensions: ["json"])) var file: String

    func run() throws {
        let settings = try ConfigurationFile(path: file).settings(RecordServerConfiguration())
        do throws(RecordServerError) { try settings.checkCertificates() } catch { throw CommandFailure(error) }
        StandardStream.output.printLine("\(file) is valid")
    }
}
