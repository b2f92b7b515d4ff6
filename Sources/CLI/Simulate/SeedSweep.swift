import FreshetSimulator
import Glibc

/// Many seeds, several at a time.
struct SeedSweep: Sendable {
    let workload: Workload
    let seeds: ClosedRange<UInt64>
    let sabotage: Sabotage?
    let keepsGoing: Bool

    static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Gives the runs that broke a rule, in the order of their seeds, or else the first one.
    /// - Parameter report: called for each run that is done, with how many are and how many steps they took.
    func run(jobs: Int, report: (SimulationReporter.Run, Int, Int) -> Void) async throws -> [SimulationReporter.Run] {
        var kept: [SimulationReporter.Run] = []
        var (done, steps) = (0, 0)
        try await withThrowingTaskGroup(of: SimulationReporter.Run.self) { group in
            var left = seeds.makeIterator()
            var isEnding = false
            for _ in 0..<jobs { if let seed = left.next() { add(seed, to: &group) } }
            while let run = try await group.next() {
                done += 1
                steps += run.outcome.steps
                report(run, done, steps)
                if run.outcome.violation != nil || run.seed == seeds.lowerBound { kept.append(run) }
                // Those under way may have lower seeds, so they are waited for.
                isEnding = isEnding || (run.outcome.violation != nil && !keepsGoing)
                if !isEnding, let seed = left.next() { add(seed, to: &group) }
            }
        }
        let broken = kept.filter { $0.outcome.violation != nil }
        return (broken.isEmpty ? kept : broken).sorted { $0.seed ?? 0 < $1.seed ?? 0 }
    }

    private func add(_ seed: UInt64, to group: inout ThrowingTaskGroup<SimulationReporter.Run, any Error>) {
        var simulation = Simulation(seed: seed, workload: workload)
        simulation.sabotage = sabotage
        group.addTask { [simulation] in SimulationReporter.Run(seed: seed, outcome: try simulation.run()) }
    }
}
