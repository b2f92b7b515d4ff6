import ArgumentParser
import FreshetWire

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a collection's records, ordered by id.",
        discussion: """
            A line each: revision, id, value. With --json, a record object each.

            EXAMPLE
              freshet list countries --prefix N --limit 5
            """)

    @Argument(help: "The collection.") var collection: String
    @Option(help: ArgumentHelp("Only ids that begin so.", valueName: "text")) var prefix: String?
    @Option(help: ArgumentHelp("At most so many records. (default: all)", valueName: "count")) var limit: Int?
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a whole number from 1, not \(limit)") }
        guard (try? RecordKey.check(collection: collection)) != nil else {
            throw ValidationError("'\(collection)' is no collection: it takes 1 to 64 of A-Z a-z 0-9 . _ -")
        }
    }

    func run() async throws {
        let remote = try options.remote()
        let lines = RecordLines.standard
        var left = limit ?? .max
        var pages = RecordPages(remote: remote, collection: collection, prefix: prefix)
        while left > 0, let page = try await pages.next(limit: left) {
            for record in page.records {
                if output.json {
                    StandardStream.output.printJSON(record.json)
                } else {
                    StandardStream.output.printLine(lines.line(for: record))
                }
            }
            left -= page.records.count
        }
    }
}
