/// Searches for violations, guided by the triples that runs have covered: a device's state, an event and the latest
/// fault.
///
/// It makes batches of runs: mutations of scenarios that reached rare triples, new dense scenarios, and uniform seeds.
/// The triples that a batch covers decide the next batch. The same settings give the same search, however many runs go on at once.
///
/// Going back to a rare state and on from there is Go-Explore's idea (Ecoffet et al., 2021,
/// <https://doi.org/10.1038/s41586-020-03157-9>), and the bias to what few runs reach is AFLFast's (Böhme et al., 2016,
/// <https://doi.org/10.1145/2976749.2978428>).
package struct GuidedSearch: Sendable {
    /// How far it has come.
    package struct Progress: Hashable, Sendable {
        package var runs = 0
        package var steps = 0
        /// How many of the runs and steps were those of uniform seeds.
        package var uniformRuns = 0
        package var uniformSteps = 0
        /// How many triples have been covered.
        package var triples = 0
        /// How many scenarios the corpus has.
        package var entries = 0
        /// How many runs broke a rule.
        package var violations = 0
    }

    /// Where a run comes from.
    package enum Origin: Hashable, Sendable {
        /// A uniform random seed.
        case uniform(UInt64)
        /// A new dense scenario.
        case new
        /// A mutation of the corpus.
        case mutation
        /// The corpus of an earlier search.
        case corpus
    }

    /// A run that broke a rule.
    package struct Finding: Sendable {
        package var kind: ViolationKind
        package var violation: Violation
        package var scenario: Scenario
        package var origin: Origin
        /// How far the search had come.
        package var progress: Progress
    }

    private let workload: Workload
    private let bug: InjectedBug?
    /// How many guided runs a batch has.
    private let batch: Int
    private var corpus = Corpus()
    private var mutator: Mutator
    private var waiting: [Scenario]
    private var nextUniform: UInt64
    package private(set) var progress = Progress()
    /// How many runs broke a rule in each way.
    package private(set) var kinds: [ViolationKind: Int] = [:]

    /// The most entries of the corpus: some 200 MB of scenarios.
    private static var mostEntries: Int { 40_000 }
    /// A quarter of the steps are those of uniform seeds, so that what guidance leaves out is tried too.
    private static var uniformShare: Int { 4 }
    /// After how many steps a guided run takes no more incidents, unless it is a long one.
    private static var stepLimit: Int { 1_500 }
    /// One in so many guided runs is a new scenario.
    private static var freshRate: Int { 2 }

    /// - Parameters:
    ///   - workload: what uniform runs are like, how many devices a scenario may have, and what may go wrong.
    ///   - corpus: the entries of earlier searches; they are run first.
    ///   - batch: how many guided runs are planned at a time, at least 1: the more, the later a search learns from them.
    package init(
        seed: UInt64, workload: Workload = Workload(), corpus: [Scenario] = [], bug: InjectedBug? = nil, batch: Int = 32
    ) {
        self.batch = max(1, batch)
        self.workload = workload
        self.bug = bug
        mutator = Mutator(faults: workload.faults, devices: workload.devices, seed: seed)
        waiting = corpus.reversed()
        nextUniform = RandomSource.mix(seed) >> 1
    }

    /// The entries of the corpus by their numbers, which never change: what a later search can go on from.
    package var entries: [Int: Scenario] { corpus.scenarios }

    /// Whether the entries of earlier searches have all been run.
    package var isLoaded: Bool { waiting.isEmpty }

    /// The next runs. Give their results to ``take(_:)`` in the same order.
    package mutating func nextBatch() -> [Trial] {
        var trials: [Trial] = []
        if !waiting.isEmpty {
            for _ in 0..<batch { if let entry = waiting.popLast() { trials.append(trial(entry, .corpus)) } }
            return trials
        }
        // First, since they take longest. How many steps each takes is not known yet.
        var planned = 0
        while (progress.uniformSteps + planned) * Self.uniformShare <= progress.steps + planned {
            planned += workload.steps
            nextUniform &+= 1
            trials.append(
                Trial(input: .seed(nextUniform, workload), origin: .uniform(nextUniform), bug: bug))
        }
        for _ in 0..<batch { trials.append(guidedTrial()) }
        return trials
    }

    private mutating func guidedTrial() -> Trial {
        guard !mutator.random.chance(oneIn: Self.freshRate), let place = corpus.place(&mutator.random) else {
            return trial(mutator.fresh(), .new)
        }
        let other = corpus.place(&mutator.random)?.scenario
        return trial(mutator.mutated(place, with: other), .mutation)
    }

    private func trial(_ scenario: Scenario, _ origin: Origin) -> Trial {
        let limit = scenario.incidents.count > Mutator.longest ? max(workload.steps, Self.stepLimit) : Self.stepLimit
        return Trial(input: .scenario(scenario, stepLimit: limit), origin: origin, bug: bug)
    }

    /// Takes in what a batch came to.
    /// - Returns: the runs that broke a rule, in order.
    package mutating func take(_ results: [Trial.Result]) -> [Finding] {
        var findings: [Finding] = []
        for result in results {
            guard let outcome = result.outcome else { continue }
            progress.runs += 1
            progress.steps += outcome.steps
            if case .uniform = result.origin {
                progress.uniformRuns += 1
                progress.uniformSteps += outcome.steps
            }
            corpus.add(outcome.scenario, result.covered, longest: Self.stepLimit)
            (progress.triples, progress.entries) = (corpus.triples, corpus.count + waiting.count)
            guard let violation = outcome.violation else { continue }
            progress.violations += 1
            let kind = ViolationKind(violation)
            kinds[kind, default: 0] += 1
            findings.append(
                Finding(
                    kind: kind, violation: violation, scenario: outcome.scenario, origin: result.origin,
                    progress: progress))
        }
        corpus.trim(to: Self.mostEntries, &mutator.random)
        return findings
    }
}
