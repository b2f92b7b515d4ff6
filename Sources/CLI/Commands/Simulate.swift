import ArgumentParser
import FreshetSimulator

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run devices and a server in virtual time, with every fault, and judge them.",
        discussion: """
            Each seed is a run of its own: the code that ships, over networks, disks, clocks and processes that fail. After every step
            the rules of sync are judged. The first violation ends it, unless --keep-going says otherwise: the rule, the seed and the
            step, and the shortest scenario found that still breaks the rule. The same seed and version give the same run, byte for byte.

            FAULTS
            \(FaultKind.allCases.map { "  \($0.rawValue): \($0.summary)" }.joined(separator: "\n"))

            EXAMPLES
              freshet simulate --devices 5 --steps 20000 --seeds 1...100
              freshet simulate --seeds 7 --faults network,crashes --report run.html
              freshet simulate --scenario lost-answer.scenario

            EXIT STATUS
              0 if no rule was broken, 1 if one was.
            """)

    @Option(help: "How many devices, 1 to 26.") var devices = 5
    @Option(help: "How many steps of a run come before all faults end.") var steps = 5_000
    @Option(help: ArgumentHelp("The seeds: one, or FIRST...LAST.", valueName: "seeds")) var seeds = SeedRange(1...100)
    @Option(help: ArgumentHelp("What may go wrong: all, none, or a list with commas.", valueName: "list")) var faults = FaultList.all
    @Option(help: ArgumentHelp("Run this scenario instead of seeds; - is standard input.", valueName: "file")) var scenario: String?
    @Option(help: ArgumentHelp("Write a page that shows the violation, or else the first run.", valueName: "file")) var report: String?
    @Option(help: ArgumentHelp("Write the shortest scenario that breaks the rule to this file.", valueName: "file")) var shrunk: String?
    @Option(help: ArgumentHelp("How many runs at a time. (default: one a processor)", valueName: "count")) var jobs: Int?
    @Option(
        help: ArgumentHelp(
            "Break a rule's implementation on purpose, to see the judges at work: \(Sabotage.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "name")) var sabotage: Sabotage?
    @Flag(help: "Go on after a violation, and shrink none.") var keepGoing = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...26).contains(devices) else { throw ValidationError("--devices takes 1 to 26, not \(devices)") }
        guard (1...100_000_000).contains(steps) else { throw ValidationError("--steps takes 1 to 100000000, not \(steps)") }
        if let jobs, jobs < 1 { throw ValidationError("--jobs takes a whole number from 1, not \(jobs)") }
    }

    func run() async throws {
        let reporter = SimulationReporter(
            isJSON: output.json, command: command, report: report, shrunk: shrunk, sabotage: sabotage, shrinks: !keepGoing)
        if let scenario {
            try reporter.finish([try run(scenario: scenario)])
        } else {
            try reporter.finish(try await runSeeds(reporter))
        }
    }

    private func run(scenario path: String) throws -> SimulationReporter.Run {
        let bytes = try ValueArgument.file(path)
        do throws(ScenarioError) {
            var simulation = Simulation(try Scenario(text: String(decoding: bytes, as: UTF8.self)))
            simulation.sabotage = sabotage
            return SimulationReporter.Run(seed: nil, outcome: try simulation.run())
        } catch { throw CommandFailure(.data, "\(path): \(error)") }
    }

    private func runSeeds(_ reporter: SimulationReporter) async throws -> [SimulationReporter.Run] {
        let workload = Workload(devices: devices, steps: steps, faults: faults.kinds)
        let sweep = SeedSweep(workload: workload, seeds: seeds.range, sabotage: sabotage, keepsGoing: keepGoing)
        return try await sweep.run(jobs: jobs ?? SeedSweep.processors) { run, done, steps in
            reporter.progress(run, done: done, of: seeds.range.count, steps: steps)
        }
    }

    /// The command that does it again.
    private var command: (UInt64?) -> String {
        { [devices, steps, faults, scenario, sabotage] seed in
            var words = ["freshet simulate"]
            if let scenario { words.append("--scenario \(scenario)") }
            if let seed { words.append("--devices \(devices) --steps \(steps) --seeds \(seed)") }
            if seed != nil, faults != .all { words.append("--faults \(faults)") }
            if let sabotage { words.append("--sabotage \(sabotage.rawValue)") }
            return words.joined(separator: " ")
        }
    }
}

extension Sabotage: ExpressibleByArgument {}
