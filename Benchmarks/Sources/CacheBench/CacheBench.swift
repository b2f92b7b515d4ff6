import ArgumentParser

/// Measures FreshetCache and its peers in one run: a line per figure, `name ours=… peer=… ratio=…`.
@main
struct CacheBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "CacheBench", abstract: "Measure FreshetCache beside its peers.", subcommands: [Memory.self, Traces.self])

    struct Memory: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Reads, writes with eviction, and bytes for each entry.")

        enum Figure: String, CaseIterable, ExpressibleByArgument { case hits, sets, bytes }

        @Argument(help: "Which figures; all by default.") var figures = Figure.allCases

        func run() {
            for figure in figures {
                switch figure {
                case .hits: MemoryFigures.hits()
                case .sets: MemoryFigures.sets()
                case .bytes: MemoryFigures.bytes()
                }
            }
        }
    }

    struct Traces: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Write the traces for hit ratios, one key a line, into a folder.")

        @Argument(help: "The folder; it must be there.") var folder: String

        func run() throws { try Trace.writeAll(into: folder) }
    }
}
