import ArgumentParser
import FreshetServer
import FreshetTrust

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
            Checks the file, the certificates and the issuers' keys that it names. An error states the line and the byte, or the
            file; a key that no token can be verified by is a warning. Not checked are what only a server can: whether the
            addresses are free, whether the data, the audit log and the admin socket can be made, and keys at a URL.

            EXAMPLES
              freshet config check freshet.json
            """)

    @Argument(help: "The file; - for standard input.", completion: .file(extensions: ["json"])) var file: String

    func run() throws {
        let settings = try ConfigurationFile(path: file).settings(RecordServerConfiguration())
        do throws(RecordServerError) { try settings.checkCertificates() } catch { throw CommandFailure(error) }
        for (issuer, source) in zip(settings.verifier.issuers, settings.keySources) {
            guard case .fixed(let keys) = source else { continue }
            for reason in keys.skipped {
                StandardStream.error.printLine(
                    StandardStream.error.visible("warning: a key of the issuer '\(issuer.name)' is not used: \(reason)"))
            }
        }
        StandardStream.output.printLine("\(file) is valid")
    }
}
