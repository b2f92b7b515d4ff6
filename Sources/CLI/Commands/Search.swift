import ArgumentParser
import FreshetSimulator

struct Search: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Search for runs of the simulator that break a rule, guided by the coverage of earlier runs.",
        discussion: """
            A run covers triples: the state of a device's machine, the event, and the latest fault. Scenarios that reach
            rare triples are kept as a corpus. The search goes on from them: it removes, repeats, shifts and splices their
            incidents and adds faults. A quarter of the steps are those of uniform seeds, as `freshet simulate` runs them.

            DIR/corpus has the scenarios that a later search on the same directory goes on from. DIR/found has the
            violations, shrunk, with its description as a comment: `freshet simulate --scenario FILE` runs one again.

            With the same --seed and corpus, a search that ends by --steps-total is the same, whatever --jobs says.

            EXAMPLES
              freshet search --seconds 60
              freshet search --hours 8 --corpus .build/simulator-corpus --keep-going
              freshet search --seed 7 --steps-total 2000000 --json

            EXIT STATUS
              0 if no rule was broken, 1 if one was.
            """)

    @Option(help: "End after so many seconds. (default: 60 if no other limit is given)") var seconds: Double?
    @Option(help: "End after so many hours.") var hours: Double?
    @Option(help: ArgumentHelp("End after so many steps of all runs together.", valueName: "steps")) var stepsTotal: Int?
    @Option(help: "Decides all that the search does. (default: another one each time)") var seed: UInt64?
    @Option(
        help: ArgumentHelp("Keep the corpus and what is found in this directory.", valueName: "dir"), completion: .directory)
    var corpus: String?
    @OptionGroup var options: WorkloadOptions
    @Flag(help: "Go on after a violation.") var keepGoing = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard corpus != "" else { throw ValidationError("--corpus takes a directory, and this is empty") }
        if let stepsTotal, stepsTotal < 1 {
            throw ValidationError("--steps-total takes a whole number from 1, not \(stepsTotal)")
        }
        for (name, value) in [("--seconds", seconds), ("--hours", hours)] {
            if let value, !(value > 0 && value <= 1_000_000) {
                throw ValidationError("\(name) takes a number above 0, not \(value)")
            }
        }
    }

    func run() async throws {
        let directory = try corpus.map { path throws(CommandFailure) in try SearchDirectory(path) }
        let seed = seed ?? UInt64.random(in: 1...999_999_999)
        let entries = try directory?.load() ?? []
        var loop = SearchLoop(
            search: GuidedSearch(seed: seed, workload: options.workload, corpus: entries, bug: options.bug),
            jobs: options.jobs ?? SeedSweep.processors,
            duration: duration, stepsTotal: stepsTotal ?? .max, keepsGoing: keepGoing, bug: options.bug,
            directory: directory,
            reporter: SearchReporter(isJSON: output.json, seed: seed))
        let violations = try await loop.run()
        guard violations == 0 else {
            throw CommandFailure(.notFound, "a rule was broken, in \(grouped(violations)) runs")
        }
    }

    /// `nil` for no time limit.
    private var duration: Duration? {
        let limits = [seconds, hours.map { $0 * 3_600 }].compactMap { $0 }
        if limits.isEmpty, stepsTotal != nil { return nil }
        return .seconds(limits.min() ?? 60)
    }
}
