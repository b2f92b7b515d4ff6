import ArgumentParser
import FreshetSimulator

/// The parameters of random runs, for the commands that make them.
struct WorkloadOptions: ParsableArguments {
    static let defaultDevices = 5
    static let defaultSteps = 5_000

    @Option(help: "How many devices, 1 to 26; in a search, the most that a run has.") var devices = defaultDevices
    @Option(help: "How many steps of a run come before all faults end; in a search, of a uniform run.")
    var steps = defaultSteps
    @Option(help: ArgumentHelp("The faults of the runs: all, none, or a list with commas.", valueName: "list")) var faults = FaultList.all
    @Flag(help: "Give devices tokens whose rights are narrowed and widened, which end, and which are revoked.") var rights = false
    @Flag(help: "Let devices list collections.") var lists = false
    @Option(help: ArgumentHelp("How many runs at a time, 1 to 1024. (default: one a processor)", valueName: "count")) var jobs: Int?
    @Option(
        help: ArgumentHelp(
            "Break a rule's implementation on purpose, to demonstrate that its check fails: \(InjectedBug.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "name")) var bug: InjectedBug?

    var workload: Workload { Workload(devices: devices, steps: steps, faults: faults.kinds, hasRights: rights, hasLists: lists) }

    func validate() throws {
        guard (1...26).contains(devices) else { throw ValidationError("--devices takes 1 to 26, not \(devices)") }
        guard (1...100_000_000).contains(steps) else { throw ValidationError("--steps takes 1 to 100000000, not \(steps)") }
        if let jobs, !(1...1_024).contains(jobs) { throw ValidationError("--jobs takes 1 to 1024, not \(jobs)") }
    }
}

extension InjectedBug: ExpressibleByArgument {}
