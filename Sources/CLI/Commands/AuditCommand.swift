import ArgumentParser
import FreshetPlatform

/// `freshet audit …`: the audit log of a server.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show the audit log of a server.",
        discussion: """
            The log is the file of 'freshet serve --audit', or of the member 'audit' of its configuration file.

            EXAMPLES
              freshet audit tail audit.jsonl
            """,
        subcommands: [AuditTail.self])
}

struct AuditTail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Print the last lines of an audit log.",
        discussion: """
            Prints a line for a person for each event; with --json, the lines as they are. --follow goes on with the lines that are
            appended, also after the file was renamed and made again, until Ctrl-C.

            EXAMPLES
              freshet audit tail audit.jsonl
              freshet audit tail audit.jsonl --lines 100 --follow
              freshet audit tail --config /etc/freshet/freshet.json
            """)

    private static let mostLines = 10_000

    @Argument(help: "The file; by default that of --config.", completion: .file(extensions: ["jsonl"])) var file: String?
    @Option(
        help: ArgumentHelp("The configuration file of the server, which names the log.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var config: String?
    @Option(help: ArgumentHelp("How many lines.", valueName: "count")) var lines = 20
    @Flag(help: "Go on with the lines that are appended, until Ctrl-C.") var follow = false
    @Flag(help: "Print the lines as they are.") var json = false

    func validate() throws {
        guard (file == nil) != (config == nil) else { throw ValidationError("one of these: a file, --config") }
        guard (1...Self.mostLines).contains(lines) else { throw ValidationError("--lines takes 1 to \(Self.mostLines), not \(lines)") }
    }

    func run() async throws {
        var tail = try LogTail(AbsolutePath(argument: path()).text)
        for line in try tail.last(lines) { show(line) }
        if follow { OutputWatcher.start() }
        while follow {
            let appended = try tail.appended()
            for line in appended { show(line) }
            if appended.isEmpty { try await Task.sleep(for: .milliseconds(250)) }
        }
    }

    private func show(_ line: [UInt8]) {
        guard !json else { return StandardStream.output.printJSON(line) }
        let lines = AuditLines(style: Style(for: .output), isTerminal: StandardStream.output.isTerminal)
        StandardStream.output.printLine(lines.text(for: line))
    }

    private func path() throws(CommandFailure) -> String {
        if let file { return file }
        let configuration = try ConfigurationFile(path: config ?? "")
        guard let path = try configuration.auditLog() else {
            throw CommandFailure(.usage, "\(configuration.path) has no member 'audit': add it, or name the file of the log")
        }
        return path
    }
}
