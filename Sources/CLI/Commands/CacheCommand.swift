import ArgumentParser

/// The group of commands about caches.
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Look into caches, and try out how large one should be.",
        discussion: """
            EXAMPLE
              freshet cache replay --trace keys.txt --capacity 1000
              freshet cache inspect /var/cache/pictures --prefix user/
            """,
        subcommands: [CacheInspect.self, CacheStats.self, CacheClear.self, CacheReplayCommand.self])
}

struct CacheReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Feed a file of keys through the cache in memory, and count the hits.",
        discussion: """
            Each line of the file is a key that is asked for, and stored where it is not there. So a list of what your program asked
            for tells how many of its requests a cache of a given size would answer.

            EXAMPLE
              freshet cache replay --trace keys.txt --capacity 1000
            """)

    @Option(help: ArgumentHelp("The file of keys, one a line; - is standard input.", valueName: "file"), completion: .file())
    var trace: String
    @Option(help: "How many keys the cache holds.") var capacity: Int
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard capacity >= 1 else { throw ValidationError("--capacity takes a whole number from 1, not \(capacity)") }
    }

    func run() throws {
        let name = trace == "-" ? "standard input" : trace
        let replay = try CacheReplay(trace: try ValueArgument.file(trace), capacity: capacity, named: name)
        if output.json {
            StandardStream.output.printLine(
                #"{"requests":\#(replay.requests),"hits":\#(replay.hits),"hitRatio":\#(decimal(replay.hitRatio, digits: 6))}"#)
        } else {
            StandardStream.output.printLine("requests   \(grouped(replay.requests))")
            StandardStream.output.printLine("hits       \(grouped(replay.hits))")
            StandardStream.output.printLine("hit ratio  \(decimal(replay.hitRatio * 100, digits: 2)) %")
        }
    }

    /// A number with `digits` digits after the point, in any locale.
    private func decimal(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
    }
}
