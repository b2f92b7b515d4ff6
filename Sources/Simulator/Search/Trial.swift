/// A run that a search has planned. Trials of one batch need nothing of each other, so they may go on at once.
package struct Trial: Sendable {
    enum Input: Sendable {
        /// A uniform random run.
        case seed(UInt64, Workload)
        /// A scenario.
        case scenario(Scenario, stepLimit: Int)
    }

    let input: Input
    let origin: GuidedSearch.Origin
    let bug: InjectedBug?

    /// What a trial came to.
    package struct Result: Sendable {
        let origin: GuidedSearch.Origin
        /// The run's outcome; `nil` for a scenario that cannot be run.
        package let outcome: Outcome?
        let covered: [TripleVisit]
    }

    /// Runs it.
    package func run() -> Result {
        var simulation: Simulation
        let (devices, stepLimit): (Int, Int)
        switch input {
        case .seed(let seed, let workload):
            simulation = Simulation(seed: seed, workload: workload)
            (devices, stepLimit) = (workload.devices, workload.steps)
        case .scenario(let scenario, let limit):
            simulation = Simulation(scenario)
            (devices, stepLimit) = (scenario.devices.count, limit)
        }
        simulation.bug = bug
        let coverage = CoverageRecorder(devices: devices)
        let outcome = try? simulation.run(isRecorded: false, stepLimit: stepLimit, coverage: coverage)
        return Result(origin: origin, outcome: outcome, covered: coverage.covered)
    }
}
