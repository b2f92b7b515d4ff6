import ArgumentParser
import FreshetWire

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a collection's records for `import` to read.",
        discussion: """
            A record object a line, as `freshet list --json` prints them, ordered by id. Other values than JSON stand under body, in
            base64 and with their media type. When the server goes away, the export waits for it for a few seconds; if it ends, the error
            names the --after to go on with.

            EXAMPLES
              freshet export notes > notes.ndjson
              freshet export notes | freshet import - --server http://127.0.0.1:8181
            """)

    @Argument(help: "The collection.") var collection: String
    @Option(help: ArgumentHelp("Only ids that begin so.", valueName: "text")) var prefix: String?
    @Option(help: ArgumentHelp("Only ids after this one: goes on with an export that was cut off.", valueName: "id")) var after: String?
    @OptionGroup var options: RemoteOptions

    func validate() throws { try List.check(collection: collection) }

    func run() async throws {
        let pages = RecordPages(
            remote: try options.remote(), collection: collection, prefix: prefix, after: after, retries: .standard)
        let progress = ProgressLine(unit: "records", total: nil, isOn: !StandardStream.output.isTerminal)
        let isTerminal = StandardStream.output.isTerminal
        let report: Exporter.Report
        do throws(CommandFailure) {
            report = try await Exporter(pages: pages).run { lines in
                StandardStream.output.write(isTerminal ? TerminalText.escaped(lines, as: .json) : lines)
            } progress: {
                progress.draw($0)
            }
        } catch {
            progress.end()
            throw error
        }
        progress.end()
        if StandardStream.error.isTerminal, let cursor = report.cursor {
            StandardStream.error.printLine(
                "\(counted(report.count, "record")) of \(collection); `freshet watch --since \(cursor)` prints the changes since the start"
            )
        }
    }
}
