import FreshetSimulator
import Glibc

/// Runs many seeds, several at a time, and reports them in their order.
struct SeedSweep: Sendable {
    /// How many seeds may be started for each job before the oldest of them has ended: it bounds the results that wait.
    static let seedsAheadPerJob: UInt64 = 16

    let seeds: ClosedRange<UInt64>
    let keepsGoing: Bool
    /// Runs one seed.
    let simulate: @Sendable (UInt64) async throws -> SimulationReporter.Run

    init(
        seeds: ClosedRange<UInt64>, keepsGoing: Bool, simulate: @escaping @Sendable (UInt64) async throws -> SimulationReporter.Run
    ) {
        self.seeds = seeds
        self.keepsGoing = keepsGoing
        self.simulate = simulate
    }

    init(workload: Workload, seeds: ClosedRange<UInt64>, bug: InjectedBug?, keepsGoing: Bool) {
        self.init(seeds: seeds, keepsGoing: keepsGoing) { seed in
            var simulation = Simulation(seed: seed, workload: workload)
            simulation.bug = bug
            return SimulationReporter.Run(seed: seed, outcome: try simulation.run())
        }
    }

    static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Returns the runs that broke a rule, in the order of their seeds, or else the first run.
    ///
    /// Unless it keeps going, it ends with the lowest seed that breaks a rule, whichever run ended first.
    /// - Parameter report: called for each run in the order of the seeds, with the number of runs done and of their
    ///   steps.
    func run(jobs: Int, report: (SimulationReporter.Run, Int, Int) -> Void) async throws -> [SimulationReporter.Run] {
        var kept: [SimulationReporter.Run] = []
        var (done, steps) = (0, 0)
        try await withThrowingTaskGroup(of: (UInt64, SimulationReporter.Run).self) { group in
            var results = OrderedResults<SimulationReporter.Run>(from: seeds.lowerBound)
            var started: UInt64 = 0
            var running = 0
            // Set once a rule was broken: the runs of lower seeds are awaited, and no other begins.
            var isEnding = false
            func startMore() {
                let ahead = Self.seedsAheadPerJob * UInt64(jobs)
                while !isEnding, running < jobs, started < seeds.count, started - (results.next - seeds.lowerBound) < ahead {
                    let seed = seeds.lowerBound + started
                    group.addTask { (seed, try await simulate(seed)) }
                    started += 1
                    running += 1
                }
            }
            startMore()
            while let (seed, run) = try await group.next() {
                running -= 1
                isEnding = isEnding || (run.outcome.violation != nil && !keepsGoing)
                for run in results.insert(run, at: seed) {
                    done += 1
                    steps += run.outcome.steps
                    report(run, done, steps)
                    if run.outcome.violation != nil || run.seed == seeds.lowerBound { kept.append(run) }
                    guard keepsGoing || run.outcome.violation == nil else { return group.cancelAll() }
                }
                startMore()
            }
        }
        let broken = kept.filter { $0.outcome.violation != nil }
        return broken.isEmpty ? kept : broken
    }
}
