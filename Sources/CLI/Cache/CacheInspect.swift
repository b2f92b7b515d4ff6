import ArgumentParser
import FreshetCache

struct CacheInspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "List the entries of caches, ordered by key.",
        discussion: """
            A line each: bytes, when the value was stored, when it ends, key, tags. With --json, an object each.

            EXAMPLES
              freshet cache inspect /var/cache/pictures --limit 20
              freshet cache inspect /var/cache/pictures --prefix user/ --json
            """)

    @Argument(help: ArgumentHelp("Directories of caches.", valueName: "dir"), completion: .directory) var directories: [String]
    @Option(help: ArgumentHelp("Only keys that begin so.", valueName: "text")) var prefix = ""
    @Option(help: ArgumentHelp("At most so many entries of each. (default: all)", valueName: "count")) var limit: Int?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !directories.isEmpty else { throw ValidationError("name at least one directory") }
        if let limit, limit < 1 { throw ValidationError("--limit takes a whole number from 1, not \(limit)") }
    }

    func run() throws {
        for path in directories {
            do throws(CacheError) {
                let directory = try DiskCacheDirectory(path)
                if !output.json, directories.count > 1 { StandardStream.output.printLine("\(StandardStream.output.visible(path)):") }
                try list(directory)
            } catch { throw CommandFailure(error) }
        }
    }

    private func list(_ directory: DiskCacheDirectory) throws(CacheError) {
        let style = Style(for: .output)
        var left = limit ?? .max
        var last: [UInt8]?
        while left > 0 {
            let page = try directory.entries(withPrefix: prefix, after: last, limit: min(left, 1_000))
            guard let end = page.last else { return }
            for entry in page {
                let text = CacheEntryText(entry)
                if output.json {
                    StandardStream.output.printJSON(text.json(in: directory.path))
                } else {
                    StandardStream.output.printLine(text.line(style, isTerminal: StandardStream.output.isTerminal))
                }
            }
            last = end.keyBytes
            left -= page.count
        }
    }
}
