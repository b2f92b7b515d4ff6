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
        try Self.check(collection: collection)
    }

    static func check(collection: String) throws {
        guard (try? RecordKey.check(collection: collection)) != nil else {
            throw ValidationError("'\(collection)' is no collection: it takes 1 to 64 of A-Z a-z 0-9 . _ -")
        }
    }

    func run() async throws {
        let remote = try options.remote()
        let pages = RecordPages(remote: remote, collection: collection, prefix: prefix)
        let count = output.json ? try await printJSON(pages) : try await printLines(pages)
        // A person who has misspelt a name would otherwise see no output.
        if count == 0, StandardStream.error.isTerminal {
            let ids = prefix.map { " with an id that begins with '\(StandardStream.error.visible($0))'" } ?? ""
            StandardStream.error.printLine("no record in \(collection)\(ids), namespace \(remote.namespace)")
        }
    }

    private func printJSON(_ pages: RecordPages) async throws -> Int {
        let isTerminal = StandardStream.output.isTerminal
        var count = 0
        try await pages.forEachPage(limit: limit ?? .max) { page in
            let lines = page.lines()
            StandardStream.output.write(isTerminal ? TerminalText.escaped(lines, as: .json) : lines)
            count += page.count
        }
        return count
    }

    private func printLines(_ pages: RecordPages) async throws -> Int {
        var pages = pages
        let lines = RecordLines.standard
        var count = 0
        var left = limit ?? .max
        while left > 0, let page = try await pages.next(limit: left) {
            let text = page.records.map { lines.line(for: $0) + "\n" }.joined()
            StandardStream.output.write(Array(text.utf8))
            left -= page.records.count
            count += page.records.count
        }
        return count
    }
}
