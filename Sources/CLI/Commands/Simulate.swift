import ArgumentParser
import FreshetPlatform
import FreshetSimulator

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run devices and a server in virtual time, with every fault, and check the rules of sync.",
        discussion: """
            Each seed is a run of its own: the code that ships, over networks, disks, clocks and processes that fail. After every step
            the rules of sync are checked. The first violation ends it, unless --keep-going says otherwise: the rule, the seed and the
            step, and the shortest scenario found that still breaks the rule. The same seed and version give the same run, byte for byte.

            FAULTS
            \(FaultKind.allCases.map { "  \($0.rawValue): \($0.summary)" }.joined(separator: "\n"))

            EXAMPLES
              freshet simulate --devices 5 --steps 20000 --seeds 1...100
              freshet simulate --servers 3 --seeds 1...100
              freshet simulate --seeds 7 --faults network,crashes --report run.html
              freshet simulate --scenario lost-answer.scenario

            EXIT STATUS
              0 if no rule was broken, 1 if one was.
            """)

    private static let defaultSeeds: ClosedRange<UInt64> = 1...100

    @OptionGroup var options: WorkloadOptions
    @Option(help: "How many servers there are over one store, 1 to 9.") var servers = 1
    @Option(help: ArgumentHelp("The seeds: one, or FIRST...LAST, the lower one first, 100000000 at most.", valueName: "seeds"))
    var seeds = SeedRange(Simulate.defaultSeeds)
    @Option(
        help: ArgumentHelp("Run this scenario instead of seeds; - is standard input.", valueName: "file"), completion: .file())
    var scenario: String?
    @Option(
        help: ArgumentHelp("Write a page that shows the violation, or else the first run.", valueName: "file"), completion: .file())
    var report: String?
    @Option(
        help: ArgumentHelp("Write the shortest scenario that breaks the rule to this file.", valueName: "file"), completion: .file())
    var shrunk: String?
    @Flag(help: "Go on after a violation, and shrink none.") var keepGoing = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...9).contains(servers) else { throw ValidationError("--servers takes 1 to 9, not \(servers)") }
        for (name, path) in [("--scenario", scenario), ("--report", report), ("--shrunk", shrunk)] where path == "" {
            throw ValidationError("\(name) takes a file, and this is empty")
        }
        // A written file must not replace what the run was made of, or another result.
        let files = [("--scenario", scenario == "-" ? nil : scenario), ("--report", report), ("--shrunk", shrunk)]
        for (place, (name, path)) in files.enumerated() {
            for (other, otherPath) in files[..<place] {
                guard let path, let otherPath, path.leadsToSameFile(as: otherPath) else { continue }
                throw ValidationError("\(other) and \(name) name the same file")
            }
        }
        guard scenario == nil || optionsOfRandomRuns.isEmpty else {
            throw ValidationError("--scenario goes without \(optionsOfRandomRuns.joined(separator: ", ")): the file decides about these")
        }
    }

    /// The options that differ from their defaults, and have no effect on a scenario.
    private var optionsOfRandomRuns: [String] {
        let changes = [
            ("--seeds", seeds.range != Self.defaultSeeds), ("--servers", servers != 1),
            ("--devices", options.devices != WorkloadOptions.defaultDevices), ("--steps", options.steps != WorkloadOptions.defaultSteps),
            ("--faults", options.faults != .all), ("--rights", options.rights),
        ]
        return changes.filter(\.1).map(\.0)
    }

    func run() async throws {
        let reporter = SimulationReporter(
            isJSON: output.json, command: command, report: try report.map { try AbsolutePath(argument: $0).text },
            shrunk: try shrunk.map { try AbsolutePath(argument: $0).text }, bug: options.bug, shrinks: !keepGoing)
        try reporter.checkFiles()
        if let scenario {
            try reporter.finish([try run(scenario: scenario)])
        } else {
            try reporter.finish(try await runSeeds(reporter))
        }
    }

    private func run(scenario path: String) throws -> SimulationReporter.Run {
        var simulation = Simulation(try Scenario(file: path))
        do throws(ScenarioError) {
            simulation.bug = options.bug
            return SimulationReporter.Run(seed: nil, outcome: try simulation.run())
        } catch { throw CommandFailure(.data, "\(path): \(error)") }
    }

    private func runSeeds(_ reporter: SimulationReporter) async throws -> [SimulationReporter.Run] {
        var workload = options.workload
        workload.servers = servers
        var access = AccessCounts()
        let sweep = SeedSweep(workload: workload, seeds: seeds.range, bug: options.bug, keepsGoing: keepGoing)
        let runs = try await sweep.run(jobs: options.jobs ?? SeedSweep.processors) { run, done, steps in
            access += run.outcome.access
            reporter.progress(run, done: done, of: seeds.range.count, steps: steps)
        }
        if options.rights { reporter.print(access) }
        return runs
    }

    /// The command that repeats a run.
    private var command: (UInt64?) -> String {
        { [options, servers, scenario] seed in
            var words = ["freshet simulate"]
            if let scenario { words.append("--scenario \(scenario.quotedForShell)") }
            if let seed { words.append("--devices \(options.devices) --steps \(options.steps) --seeds \(seed)") }
            if seed != nil, servers != 1 { words.append("--servers \(servers)") }
            if seed != nil, options.faults != .all { words.append("--faults \(options.faults)") }
            if seed != nil, options.rights { words.append("--rights") }
            if seed != nil, options.lists { words.append("--lists") }
            if let bug = options.bug { words.append("--bug \(bug.rawValue)") }
            return words.joined(separator: " ")
        }
    }
}
