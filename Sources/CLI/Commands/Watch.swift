import ArgumentParser
import FreshetClient
import FreshetWire

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print changes as they happen, until Ctrl-C.",
        discussion: """
            A line a change; with --json, a change object each. A lost connection is taken up again where it was. Where the
            server's history was replaced, a note on standard error says so, and everything is printed from the start.

            EXAMPLES
              freshet watch --collection countries
              freshet watch --since 0 --json --limit 10
            """)

    @Option(help: ArgumentHelp("Only this collection; may be given more than once.", valueName: "name")) var collection: [String] = []
    @Option(help: ArgumentHelp("Only ids that begin so.", valueName: "text")) var prefix = ""
    @Option(
        help: ArgumentHelp("From where: 0 (the start), now, or a cursor that a server gave.", valueName: "cursor"),
        completion: .list(["0", "now"]))
    var since = "now"
    @Option(help: ArgumentHelp("End after so many changes. (default: never)", valueName: "count")) var limit: Int?
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a whole number from 1, not \(limit)") }
        do throws(WireError) {
            _ = try Since(since)
            _ = try ChangeFilter(collections: collection, prefix: prefix)
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() async throws {
        let remote = try options.remote()
        OutputWatcher.start()
        var feed = RemoteFeed(remote: remote, since: try Since(since), filter: try ChangeFilter(collections: collection, prefix: prefix))
        let lines = RecordLines.standard
        var left = limit ?? .max
        while left > 0 {
            for event in try await feed.events() {
                switch event {
                case .note(let text):
                    StandardStream.error.printLine(Style(for: .error).yellow("note:") + " " + StandardStream.error.visible(text))
                case .change where left == 0: break
                case .change(let change):
                    left -= 1
                    if output.json {
                        StandardStream.output.printJSON(change.json)
                    } else {
                        StandardStream.output.printLine(lines.line(for: change))
                    }
                }
            }
        }
    }
}
